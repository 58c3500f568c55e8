import type { ObservedOnly } from '../../core/entry.js';
import { zeroObjectId } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { PlannedSaveMount } from '../../core/plan-result.js';
import { type CapturedMount, captureMounts, openRoot } from '../capture/capture-mounts.js';
import { lookOnly } from '../capture/look-only.js';
import type { ReadFile } from '../capture/read-stable.js';
import type { Context } from '../context.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';
import { excludesInForce } from './excludes-in-force.js';
import { measureLeftOut } from './measure-left-out.js';

/**
 * The walk of a save that reads no content: files are opened, so that those show which cannot be, and closed again.
 * What the last save recorded is asked as a save would, and nothing is recorded.
 */
export async function lookAtMounts(
  context: Context,
  record: InstanceRecord,
  policy: Policy,
): Promise<{ readonly mounts: readonly PlannedSaveMount[]; readonly messages: readonly string[] }> {
  const toRead = new Map<string, number>();
  const mounts: PlannedSaveMount[] = [];
  const messages: string[] = [];
  for (const mount of record.mounts) {
    const [captured] = await captureMounts(
      { ...context, onProgress: () => undefined },
      {
        ...walkOf(context, record, { ...policy, max_total_size: roomLeft(policy, mounts) }),
        mounts: [mount],
        read: opening((bytes) => toRead.set(mount.name, (toRead.get(mount.name) ?? 0) + bytes)),
      },
    );
    if (captured === undefined) continue;
    messages.push(...captured.stacks.messages);
    mounts.push(await toPlanned(context, policy, captured, toRead.get(mount.name) ?? 0));
  }
  return { mounts, messages };
}

/** What a save under this policy would leave out, by the same walk. */
export async function leftOutOf(
  context: Context,
  record: InstanceRecord,
  policy: Policy,
): Promise<readonly ObservedOnly[]> {
  const captured = await captureMounts({ ...context, onProgress: () => undefined }, walkOf(context, record, policy));
  return captured.flatMap(({ captured: { leftOut } }) => leftOut);
}

/** The limit holds for all mounts together. */
function roomLeft({ max_total_size: limit }: Policy, before: readonly PlannedSaveMount[]): number | null {
  return limit === null ? null : Math.max(0, limit - before.reduce((sum, { stored }) => sum + stored.bytes, 0));
}

function walkOf(context: Context, record: InstanceRecord, policy: Policy): Parameters<typeof captureMounts>[1] {
  return {
    ...lookOnly(context, record, { policy }),
    read: opening(() => undefined),
    temporaryPrefix: pendingTemporaryPrefix(context, record.name),
  };
}

function opening(onFile: (bytes: number) => void): ReadFile {
  return (directory, name) => {
    const file = directory.openFile(name);
    try {
      const stat = file.stat();
      if (stat.kind !== 'file') return Promise.resolve('another');
      onFile(stat.size);
      return Promise.resolve({ oid: zeroObjectId, stat, form: 'as_is', bytesRead: 0 });
    } finally {
      file.close();
    }
  };
}

async function toPlanned(
  context: Context,
  policy: Policy,
  captured: CapturedMount,
  bytesToRead: number,
): Promise<PlannedSaveMount> {
  const { mount, kind, captured: tree, rules, stacks } = captured;
  const { filesStored, bytesStored, filesRead } = tree.stats;
  const root = openRoot(context, mount);
  try {
    return {
      name: mount.name,
      path: mount.path,
      kind,
      stored: { files: filesStored, bytes: bytesStored },
      toRead: { files: filesRead, bytes: bytesToRead },
      leftOut: await measureLeftOut(context.interruption, root, tree.leftOut),
      excludes: excludesInForce(policy, rules, stacks.detector),
      complete: tree.incomplete.length === 0,
    };
  } finally {
    root.close();
  }
}
