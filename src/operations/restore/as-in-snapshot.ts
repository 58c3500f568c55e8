import { type EntryPath, ancestorsOf, isWithin, rootPath } from '../../core/entry-path.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectId } from '../../core/ids.js';
import type { Policy } from '../../core/policy.js';
import type { ObjectReader } from '../../core/ports.js';
import { openRoot } from '../capture/capture-mounts.js';
import { type Recorded, isAlike, lookAtRecord } from '../capture/recorded.js';
import type { Context } from '../context.js';
import { readAttributes, readObserved } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';
import type { Target } from './targets.js';

/*
 * Directories in which nothing is to be restored, found without reading them: the last walk recorded the snapshot's
 * very tree for them, with the same attributes and the same paths left out, and nothing in them has changed since.
 * Whether today's rules would let them in as they did then shows in the walk.
 */

export class AsInSnapshot {
  readonly recorded: Recorded;
  /** Paths about which the record and the snapshot differ, and all directories above them. */
  readonly #different: ReadonlySet<EntryPath>;

  constructor(recorded: Recorded, different: Iterable<EntryPath>) {
    this.recorded = recorded;
    const all = new Set<EntryPath>();
    for (const path of different) {
      all.add(path);
      for (const above of ancestorsOf(path)) all.add(above);
    }
    this.#different = all;
  }

  /** True for a directory of the snapshot that is as its tree has it, with all below it. */
  holds(path: EntryPath, tree: ObjectId): boolean {
    const { parts, repositories } = this.recorded;
    if (path === rootPath || this.#different.has(path)) return false;
    if (repositories.changed.some((folder) => isWithin(path, folder))) return false;
    return parts.subtree(path, null)?.tree === tree;
  }
}

/** Reading a snapshot in part takes several times as long for each entry as reading all of it. */
const worthFrom = 0.75;

export interface ComparedMount {
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
  readonly record: InstanceRecord;
  readonly target: Target;
  readonly reader: ObjectReader;
}

/** Undefined where the record cannot say, or a walk under a restore's rules is not one under those of a save. */
export async function compareWithRecord(context: Context, compared: ComparedMount): Promise<AsInSnapshot | undefined> {
  const { known, manifest, record, target, reader } = compared;
  const { name } = target.mount;
  if (manifest.scope !== null || !areRulesOfSave(record, manifest)) return undefined;
  const recorded = await recordOf(context, record, target.mount);
  if (recorded === undefined || recorded.parts.share < worthFrom) return undefined;
  const { notes } = recorded.cache;
  if (!isAlike(notes.defaults, target.manifestMount.defaults)) return undefined;
  const attributes = await readAttributes(reader, known, name);
  return new AsInSnapshot(recorded, [
    ...differentLines(attributes, notes.attributes),
    ...differentLines(await readObserved(reader, known, name), notes.leftOut),
    // The links of one file may lie anywhere.
    ...[...attributes, ...notes.attributes].filter(({ linkedTo }) => linkedTo !== undefined).map(({ path }) => path),
    ...recorded.repositories.changed,
    ...(target.scope ?? []),
  ]);
}

/** The rules of now and of then together: what either leaves out is not deleted. */
export function rulesOfBoth({ policy }: InstanceRecord, manifest: Manifest): Policy {
  const isSame = JSON.stringify(policy.exclude) === JSON.stringify(manifest.policy.exclude);
  const exclude = isSame ? policy.exclude : [...policy.exclude, ...manifest.policy.exclude];
  return { ...policy, exclude, include_secrets: false, max_total_size: null };
}

function areRulesOfSave(record: InstanceRecord, manifest: Manifest): boolean {
  return JSON.stringify(rulesOfBoth(record, manifest)) === JSON.stringify(record.policy);
}

async function recordOf(context: Context, record: InstanceRecord, mount: MountRecord): Promise<Recorded | undefined> {
  const root = openRoot(context, mount);
  try {
    return await lookAtRecord(context, root, context.statCaches.read(record.name, mount.name, root.identity.dev));
  } finally {
    root.close();
  }
}

/** Paths with a line in one list and not the same in the other. */
function differentLines<Line extends { readonly path: EntryPath }>(
  a: readonly Line[],
  b: readonly Line[],
): Set<EntryPath> {
  const left = new Map(a.map((line) => [line.path, line]));
  const different = new Set<EntryPath>();
  for (const line of b) {
    const other = left.get(line.path);
    if (other === undefined || !isAlike(line, other)) different.add(line.path);
    left.delete(line.path);
  }
  for (const path of left.keys()) different.add(path);
  return different;
}
