import { type Dirent, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { systemCode } from '../errors.js';
import { makeDirectoryDurably, writeDurably } from '../fs/durable.js';
import { lastPacked } from './packed-refs.js';
import { damagedPart, refuseOtherKindsIn } from './ref-kinds.js';

/*
 * The bare repository, made by hand: no `git init`, so no template, no hook and no configuration of the machine gets
 * into it. What is in it is not believed: configuration and HEAD must be ours to the byte, and nothing may lead
 * outside.
 */

const head = 'ref: refs/heads/unborn\n';

const config = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogallrefupdates = false
\tsharedrepository = 0600
\tfsync = all
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;

const directories = ['', 'objects', 'objects/info', 'objects/pack', 'refs'] as const;

/** Files that would make git read objects, history or rules from elsewhere. We never make them. */
const neverThere = [
  'commondir',
  'shallow',
  'config.worktree',
  'info/attributes',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/http-alternates',
] as const;

/**
 * True when a store was made here. A crash while it was made leaves it not existing, or complete: where there are refs
 * it was complete, and a HEAD that is missing was lost.
 */
export function repositoryExists(storeDirectory: string): boolean {
  return ['HEAD', 'refs/jackin', 'packed-refs'].some((name) => kindOf(join(storeDirectory, name)) !== undefined);
}

/**
 * Makes what is missing, durably, 0700 and 0600 whatever the umask, and puts HEAD and configuration right.
 * @throws SnapError STORE_DAMAGED when a part of it is a link or leads elsewhere, or git would wait for it; then nothing was changed.
 */
export function prepareRepository(storeDirectory: string): void {
  checkRepository(storeDirectory);
  for (const directory of directories) makeDirectoryDurably(join(storeDirectory, directory));
  correct(join(storeDirectory, 'config'), config);
  // Last: with HEAD the repository exists.
  correct(join(storeDirectory, 'HEAD'), head);
}

/** What `prepareRepository` would make or put right, by name. */
export function missingParts(storeDirectory: string): string[] {
  const missing = directories.filter((name) => kindOf(join(storeDirectory, name)) === undefined);
  if (missing.length === directories.length) return [];
  const wrong = [
    { name: 'config', wanted: config },
    { name: 'HEAD', wanted: head },
  ].filter(({ name, wanted }) => contentOf(join(storeDirectory, name)) !== wanted);
  return [...missing, ...wrong.map(({ name }) => name)];
}

function checkRepository(storeDirectory: string): void {
  for (const directory of directories) {
    const kind = kindOf(join(storeDirectory, directory));
    if (kind !== undefined && kind !== 'directory') throw damagedPart(storeDirectory, directory, 'it is no directory');
  }
  for (const name of neverThere) {
    if (kindOf(join(storeDirectory, name)) !== undefined)
      throw damagedPart(storeDirectory, name, 'no store has this file');
  }
  // git would wait for whoever writes to a pipe.
  for (const name of ['packed-refs', lastPacked]) {
    const kind = kindOf(join(storeDirectory, name));
    if (kind !== undefined && kind !== 'file') throw damagedPart(storeDirectory, name, 'it is no file');
  }
  refuseLinksAndPipes(storeDirectory);
  // Those of an instance, of which there may be many, are looked at where they are listed.
  for (const directory of ['refs', 'refs/jackin', 'refs/jackin-pin']) refuseOtherKindsIn(storeDirectory, directory);
}

function refuseLinksAndPipes(storeDirectory: string): void {
  for (const directory of ['objects', 'objects/pack', 'refs']) {
    const other = otherKindIn(join(storeDirectory, directory));
    if (other === undefined) continue;
    const why = other.isSymbolicLink() ? 'it is a link' : 'it is neither file nor directory';
    throw damagedPart(storeDirectory, `${directory}/${other.name}`, why);
  }
}

function correct(path: string, wanted: string): void {
  if (contentOf(path) !== wanted) writeDurably(path, wanted);
}

function contentOf(path: string): string | undefined {
  if (kindOf(path) !== 'file') return undefined;
  return readFileSync(path, 'latin1');
}

function kindOf(path: string): 'file' | 'directory' | 'other' | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other';
}

function otherKindIn(directory: string): Dirent | undefined {
  try {
    return readdirSync(directory, { withFileTypes: true }).find((entry) => !entry.isFile() && !entry.isDirectory());
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
