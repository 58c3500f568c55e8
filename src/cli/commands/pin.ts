import type { Command } from 'commander';
import type { SnapshotPointer } from '../../index.js';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';

export function define(command: Command, session: Session): void {
  definePinning(command, session, true);
  addNotes(command, {
    about: 'Keep a snapshot: prune never removes it.',
    examples: [['pin latest', 'the newest one']],
    exits: [0, 3, 8],
  });
}

/** `pin` and `unpin` differ in one word. */
export function definePinning(command: Command, session: Session, pinned: boolean): void {
  command
    .argument('<snap>', 'the snapshot')
    .option('-n, --dry-run', 'change nothing')
    .action((snapshot: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
      session.run(command, async (context) =>
        pinOutcome(await setPin(snapshot, { pinned, dryRun }, context), { pinned, dryRun }),
      ),
    );
}

interface Pinning {
  readonly pinned: boolean;
  readonly dryRun: boolean;
}

async function setPin(snapshot: string, { pinned, dryRun }: Pinning, { snap }: Context): Promise<SnapshotPointer> {
  if (dryRun) return (await snap.show(snapshot)).snapshot;
  return pinned ? snap.pin(snapshot) : snap.unpin(snapshot);
}

async function pinOutcome(snapshot: SnapshotPointer, { pinned, dryRun }: Pinning): Promise<Outcome> {
  const { pointerData } = await import('../views/json.js');
  const said = pinned ? 'pinned' : 'no longer pinned';
  return {
    data: () => ({ snapshot: pointerData(snapshot), pinned, dry_run: dryRun }),
    text: () => `Snapshot ${snapshot.seq} of ${snapshot.instance} ${dryRun ? 'would be' : 'is'} ${said}.\n`,
    report: true,
  };
}
