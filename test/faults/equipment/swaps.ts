import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTree, makeFifo } from '../../support/build-tree.js';
import { compareTrees } from '../../support/compare.js';
import { removeTree } from '../../support/remove-tree.js';
import { storeGit } from '../../support/store-git.js';
import type { TreeSpec } from '../../support/tree-plan.js';
import { directory, file, hardLink, symlink } from '../../support/tree-plan.js';
import { type TreeEntry, walkTree } from '../../support/walk.js';
import type { Area } from './area.js';

export const canary = 'CANARY-of-a-file-outside';

/** What the mount holds when it is saved. */
export const saved: TreeSpec = [
  file('d/e/one', 'one\n'),
  file('d/e/two', 'two\n', 0o600),
  hardLink('d/e/three', 'd/e/two'),
  file('d/e/run', '#!/bin/sh\n', 0o755),
  symlink('d/e/link', 'one'),
  directory('d/e/empty', 0o700),
  file('d/f/more', 'more\n'),
  file('top', 'top\n'),
];

/** What it holds later: something of each kind to do for a restore. */
export const edited: TreeSpec = [
  file('d/e/one', 'edited\n'),
  file('d/e/two', 'edited\n', 0o600),
  hardLink('d/e/three', 'd/e/two'),
  symlink('d/e/link', 'two'),
  file('d/e/new', 'n\n'),
  file('d/e/fresh/new', 'n\n'),
  file('d/f/more', 'more\n', 0o777),
  file('top', 'top\n'),
];

/** The same names as in the mount, and what is new there after the save: whoever is led here finds work to do. */
const outside: TreeSpec = [
  ...saved.flatMap((entry) =>
    entry.type === 'file' ? [{ ...entry, content: `${canary} ${entry.path}\n`, mode: 0o640 }] : [],
  ),
  file('d/e/new', canary),
  file('d/e/fresh/new', canary),
  file('d/canary-name', canary),
  file('d/e/canary-name', canary),
  file('d/f/canary-name', canary),
  directory('d/e/empty', 0o777),
  // Other names of these are put into the mount: what they hold is then the mount's, but not theirs to change.
  file('shared', 'shared\n', 0o640),
];

export interface Swap {
  readonly name: string;
  /** The path that is moved away, and how something else takes its place. */
  readonly path: string;
  readonly put: (there: string, outside: string) => void;
}

const linkTo =
  (path: string): Swap['put'] =>
  (there, out) =>
    symlinkSync(join(out, path), there);

export const swaps: readonly Swap[] = [
  { name: 'a folder for a link out', path: 'd', put: linkTo('d') },
  { name: 'an inner folder for a link out', path: 'd/e', put: linkTo('d/e') },
  { name: 'an inner folder for a link up', path: 'd/e', put: (there) => symlinkSync('..', there) },
  { name: 'a file for a link out', path: 'd/e/one', put: linkTo('d/e/one') },
  { name: 'a linked file for a link out', path: 'd/e/two', put: linkTo('d/e/two') },
  { name: 'a file of another mode for a link out', path: 'd/f/more', put: linkTo('d/f/more') },
  {
    name: 'a file for a name of a file outside',
    path: 'd/e/one',
    put: (there, out) => linkSync(join(out, 'shared'), there),
  },
  { name: 'a file for a pipe', path: 'd/e/one', put: makeFifo },
  { name: 'a folder for a pipe', path: 'd/e', put: makeFifo },
  { name: 'a file for a device', path: 'd/e/one', put: makeDevice },
  { name: 'a file for a folder', path: 'd/e/two', put: (there) => mkdirSync(there) },
  { name: 'a folder for a file', path: 'd/e', put: (there) => writeFileSync(there, 'file\n') },
  { name: 'a folder for an empty one', path: 'd/e', put: (there) => mkdirSync(there) },
];

/** One that never ends when it is read; a link to it where devices cannot be made. */
export function makeDevice(there: string): void {
  const { status } = spawnSync('mknod', [there, 'c', '1', '5'], { stdio: 'ignore' });
  if (status !== 0) symlinkSync('/dev/zero', there);
}

/** A folder beside a mount that nothing may read, write or delete in. */
export class Outside {
  readonly path: string;
  #before: readonly TreeEntry[] = [];

  constructor(area: Area) {
    this.path = area.at('outside');
  }

  async reset(): Promise<void> {
    removeTree(this.path);
    await buildTree(this.path, outside);
    this.#before = this.#look();
  }

  problems(): string[] {
    // A name more or less of the shared file, and the time of that, are the swap's own doing.
    const [shared, others] = split(this.#look());
    const [wasShared, wereOthers] = split(this.#before);
    return [
      ...compareTrees(wereOthers, others, { also: ['ino', 'mtimeNs', 'ctimeNs', 'nlink'] }),
      ...compareTrees(wasShared, shared, { also: ['ino', 'mtimeNs'] }),
    ].map((problem) => `outside of the mount: ${problem}`);
  }

  #look(): TreeEntry[] {
    return walkTree(this.path, { withRoot: true });
  }
}

function split(entries: readonly TreeEntry[]): [TreeEntry[], TreeEntry[]] {
  const isShared = ({ path }: TreeEntry): boolean => path === 'shared';
  return [entries.filter(isShared), entries.filter((entry) => !isShared(entry))];
}

/** What was read outside and has come into the store. */
export function leaked(area: Area): string[] {
  const all = ['cat-file', '--batch-all-objects', '--batch', '--unordered'];
  const objects = storeGit(area.dataDir, all).stdoutBytes;
  return [canary, 'canary-name'].filter((name) => objects.includes(name)).map((name) => `${name} is in the store`);
}
