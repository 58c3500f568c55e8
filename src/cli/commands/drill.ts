import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

/** An empty variable is none. */
function temporaryFolder({ TMPDIR = '' }: Readonly<Record<string, string | undefined>>): string {
  return TMPDIR === '' ? '/tmp' : TMPDIR;
}

export function define(command: Command, session: Session): void {
  command
    .argument('[snap]', 'the snapshot; default: latest')
    .option('--in <dir>', 'a folder with room for it; default: that for temporary files')
    .action((snapshot: string | undefined, { in: folder }: { readonly in?: string }) =>
      session.run(command, async ({ snap, surroundings }) => {
        const [{ drillData }, { drillText }, { hostPath }] = await Promise.all([
          import('../views/json-change.js'),
          import('../views/text-check.js'),
          import('../paths.js'),
        ]);
        const result = await snap.drill({
          snapshot: snapshot ?? 'latest',
          in: hostPath(folder ?? temporaryFolder(surroundings.env), surroundings.cwd),
        });
        return {
          data: () => drillData(result),
          text: () => drillText(result),
          // What cannot be restored must be said however quiet we are asked to be.
          report: result.ok,
          messages: result.messages,
          exitCode: result.ok ? 0 : 7,
        };
      }),
    );
  addNotes(command, {
    about:
      'Restore a snapshot into a new temporary folder, read all of it back from the disk, compare it with the snapshot, ' +
      'and remove the folder. Your folders are not looked at.',
    examples: [
      ['drill', 'would the latest snapshot come back whole?'],
      ['drill 3 --in /mnt/spare', 'on a disk that has the room'],
    ],
    exits: [0, 3, 7, 9],
  });
}
