import { escapeName } from './bytes.js';
import type { TreeEntry } from './walk.js';
import { walkTree } from './walk.js';

export type ComparedField = (typeof restoredFields)[number] | (typeof touchedFields)[number];

// What a snapshot promises to bring back.
const restoredFields = [
  'type',
  'mode',
  'size',
  'sha256',
  'target',
  'linkGroup',
  'uid',
  'gid',
  'unreadable',
] as const satisfies readonly (keyof TreeEntry)[];

// What stays only when nobody touched the entry.
const touchedFields = ['ino', 'mtimeNs', 'ctimeNs', 'blocks', 'nlink'] as const satisfies readonly (keyof TreeEntry)[];

export interface CompareOptions {
  /** Fields that may differ. */
  readonly ignore?: readonly ComparedField[];
  /** Inode, times, blocks and link counts count only when they are named here. */
  readonly also?: readonly ComparedField[];
}

/**
 * The differences between two trees, a line each, names escaped; empty when they are equal. `a` is what was wanted,
 * `b` is what was found.
 */
export function compareTrees(a: readonly TreeEntry[], b: readonly TreeEntry[], options: CompareOptions = {}): string[] {
  const fields = [...restoredFields, ...(options.also ?? [])].filter((field) => !options.ignore?.includes(field));
  const found = new Map(b.map((entry) => [entry.path, entry]));
  const wanted = new Set(a.map((entry) => entry.path));
  const lost = a.flatMap((entry) => {
    const other = found.get(entry.path);
    return other === undefined ? [`missing ${show(entry)}`] : compareEntries(entry, other, fields);
  });
  const added = b.filter((entry) => !wanted.has(entry.path)).map((entry) => `unexpected ${show(entry)}`);
  return [...lost, ...added];
}

/**
 * A tree as text, a line an entry, with inode, times and the root itself. Two equal fingerprints mean that in between
 * nothing was written, replaced, moved or touched. Where they differ, the lines say what.
 */
export function treeFingerprint(root: string): string {
  const fields = [...restoredFields, ...touchedFields];
  const lines = walkTree(root, { withRoot: true }).map((entry) =>
    [escapeName(entry.path), ...fields.map((field) => `${field}=${showValue(field, entry[field])}`)].join(' '),
  );
  return `${lines.join('\n')}\n`;
}

function compareEntries(a: TreeEntry, b: TreeEntry, fields: readonly ComparedField[]): string[] {
  const differing = fields.filter((field) => a[field] !== b[field]);
  if (differing.length === 0) return [];
  const changes = differing.map((field) => `${field} ${showValue(field, a[field])} -> ${showValue(field, b[field])}`);
  return [`changed ${escapeName(a.path)}: ${changes.join(', ')}`];
}

function show(entry: TreeEntry): string {
  return `${entry.type} ${escapeName(entry.path)}`;
}

function showValue(field: ComparedField, value: TreeEntry[ComparedField]): string {
  if (value === null) return 'none';
  if (field === 'mode') return Number(value).toString(8).padStart(4, '0');
  if (field === 'target' || field === 'linkGroup') return escapeName(String(value));
  return String(value);
}
