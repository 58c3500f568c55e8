import { Buffer } from 'node:buffer';
import type { BigIntStats } from 'node:fs';
import { closeSync, constants, lstatSync, mkdirSync, openSync, symlinkSync, writeSync } from 'node:fs';

import type { HostPath } from '../../core/entry-path.js';
import { displayPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectType } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import { directoryMode } from '../pack/format.js';
import type { WrittenEntry } from '../user-repo/encode-index.js';
import type { RepositoryObjects } from '../user-repo/repository-objects.js';
import { type UserTreeEntry, gitlink, isCheckoutName, parseUserTree } from '../user-repo/tree-content.js';
import { unsuitable } from './find-source.js';

export interface CheckOutRequest {
  readonly objects: RepositoryObjects;
  /** For what is said. */
  readonly repository: HostPath;
  readonly tree: ObjectId;
  /** An empty folder in which nobody else writes yet. */
  readonly folder: HostPath;
  readonly pause: () => Promise<void>;
}

/**
 * Writes the files of a tree, their bytes as they are stored: no filter and no line ending is applied. The tree is not
 * trusted: everything is made anew, so that no entry can stand in for another.
 * @throws SnapError REPOSITORY_UNSUITABLE when an object is missing, or git would make no such file
 */
export async function checkOut(request: CheckOutRequest): Promise<WrittenEntry[]> {
  const files: WrittenEntry[] = [];
  await checkOutTree(request, request.tree, '', files);
  return files;
}

const symlink = 0o120000;

async function checkOutTree(
  request: CheckOutRequest,
  tree: ObjectId,
  prefix: string,
  files: WrittenEntry[],
): Promise<void> {
  const entries = parseUserTree(readObject(request, tree, 'tree', prefix));
  if (entries === undefined) throw unsuitable(request.repository, `its tree ${tree} is damaged`);
  for (const entry of entries) {
    await request.pause();
    const path = prefix + entry.name;
    if (!isCheckoutName(entry.name)) throw refusedPath(request, path);
    if (entry.mode === directoryMode) {
      make(request, path, (at) => mkdirSync(at));
      await checkOutTree(request, entry.oid, `${path}/`, files);
    } else {
      files.push(checkOutEntry(request, entry, path));
    }
  }
}

function checkOutEntry(request: CheckOutRequest, { mode, oid }: UserTreeEntry, path: string): WrittenEntry {
  if (mode === gitlink) {
    // A submodule that is not set up is an empty folder.
    make(request, path, (at) => mkdirSync(at));
    return { path, mode, oid, stat: null };
  }
  if (mode === symlink) {
    const text = readObject(request, oid, 'blob', path);
    if (text.includes(0) || text.length === 0) throw refusedPath(request, path);
    make(request, path, (at) => symlinkSync(text, at));
    return { path, mode, oid, stat: statOf(request, path) };
  }
  if (mode >> 12 !== 0o10) throw refusedPath(request, path);
  const isExecutable = (mode & 0o100) !== 0;
  const content = readObject(request, oid, 'blob', path);
  make(request, path, (at) => writeFile(at, content, isExecutable ? 0o777 : 0o666));
  return { path, mode: isExecutable ? 0o100755 : 0o100644, oid, stat: statOf(request, path) };
}

function readObject(request: CheckOutRequest, oid: ObjectId, type: ObjectType, path: string): Buffer {
  const reading = request.objects.read(oid, type);
  if (reading.kind === 'read') return reading.value;
  const missing = `it lacks object ${oid} of ${displayPath(path === '' ? '.' : path)}, as a partial or shared clone does`;
  throw unsuitable(request.repository, reading.kind === 'absent' ? missing : reading.why);
}

function make({ folder, repository }: CheckOutRequest, path: string, act: (at: Buffer) => void): void {
  try {
    act(Buffer.from(`${folder}/${path}`, 'latin1'));
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EEXIST' && code !== 'ENAMETOOLONG' && code !== 'EINVAL') throw error;
    throw unsuitable(repository, `${displayPath(path)} in its commit cannot be made here (${code})`);
  }
}

function refusedPath({ repository }: CheckOutRequest, path: string): Error {
  return unsuitable(repository, `its commit has an entry ${displayPath(path)} that no checkout makes`);
}

function writeFile(at: Buffer, content: Buffer, mode: number): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(at, flags, mode);
  try {
    for (let done = 0; done < content.length;) done += writeSync(descriptor, content, done);
  } finally {
    closeSync(descriptor);
  }
}

function statOf({ folder }: CheckOutRequest, path: string): BigIntStats {
  return lstatSync(Buffer.from(`${folder}/${path}`, 'latin1'), { bigint: true });
}
