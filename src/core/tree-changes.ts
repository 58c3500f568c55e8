import type { EntryPath } from './entry-path.js';
import { type MountName, type ObjectId, zeroObjectId } from './ids.js';
import { unescapeName } from './name-escape.js';

/** One path that differs between two snapshots. */
export interface TreeChange {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly change: 'added' | 'modified' | 'deleted';
  /** Lines added and removed; null where git calls the content binary. */
  readonly lines: { readonly added: number; readonly removed: number } | null;
  /** It may be executed now, and could not before. */
  readonly becameExecutable: boolean;
  /** The content before and after; null where there was none, or it is no file. */
  readonly before: ObjectId | null;
  readonly after: ObjectId | null;
}

/** git's options for the output that `parseTreeChanges` reads. */
export const treeChangeOptions: readonly string[] = ['--raw', '--numstat', '-z', '--no-renames', '--no-abbrev'];

/**
 * The changes in what `git diff --raw --numstat -z` prints of two `mounts` trees, in its order. Bytes (latin1).
 * @throws SnapError STORE_DAMAGED for a name that is not in its stored form
 */
export function parseTreeChanges(output: string): TreeChange[] {
  const words = output.split('\0');
  const changes = new Map<string, TreeChange>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const raw = rawShape.exec(word);
    if (raw !== null) {
      const stored = words[(at += 1)] ?? '';
      changes.set(stored, toChange(raw, stored));
      continue;
    }
    noteLines(word, changes);
  }
  return [...changes.values()];
}

function noteLines(word: string, changes: Map<string, TreeChange>): void {
  const [, added = '', removed = '', stored = ''] = statShape.exec(word) ?? [];
  const change = changes.get(stored);
  if (change === undefined || added === '-') return;
  changes.set(stored, { ...change, lines: { added: Number(added), removed: Number(removed) } });
}

const rawShape = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([A-Z])\d*$/;
const statShape = /^(\d+|-)\t(\d+|-)\t([^]+)$/;
const executable = '100755';

const changeOf: Readonly<Record<string, TreeChange['change']>> = { A: 'added', D: 'deleted' };

function toChange(raw: RegExpExecArray, stored: string): TreeChange {
  const [, modeBefore = '', modeAfter = '', before = '', after = '', letter = ''] = raw;
  const [mount = '', ...names] = stored.split('/');
  return {
    mount: mount as MountName,
    path: names.map(unescapeName).join('/') as EntryPath,
    change: changeOf[letter] ?? 'modified',
    lines: null,
    becameExecutable: modeAfter === executable && modeBefore !== executable,
    before: contentOf(modeBefore, before),
    after: contentOf(modeAfter, after),
  };
}

function contentOf(mode: string, oid: string): ObjectId | null {
  return mode.startsWith('100') && oid !== zeroObjectId ? (oid as ObjectId) : null;
}
