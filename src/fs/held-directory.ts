import { Buffer } from 'node:buffer';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';

import type { EntryStat } from '../core/entry.js';
import { type HostPath, isAscii } from '../core/entry-path.js';
import type { FindData } from '../core/data-ranges.js';
import type { NewFile, OpenFile, WritableDirectory } from '../core/ports.js';
import { SnapError, systemCode } from '../errors.js';
import { toEntryStat } from './entry-stat.js';
import { ReadFile, WrittenFile, untold } from './files.js';

/*
 * Directories held by descriptors. A child is addressed as /proc/self/fd/<n>/<name>: the kernel resolves one
 * component below the very directory that was opened, so that a parent that is swapped for a link leads nowhere, and
 * paths may be longer than PATH_MAX.
 */

const openDirectoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// O_PATH (not in Node's constants): a handle on the entry itself, which needs no permission on it.
const openHandleFlags = 0o10000000 | constants.O_NOFOLLOW;

/** Descriptors that one chain of directories holds at most, besides its root; others are reopened on the way back. */
const heldAtMost = 64;

/**
 * Opens a mount's root. The path's last component must be a directory and no link.
 * @param findData asks the system where the data of a file in it lies; without it, all of a file counts as data
 */
export function openMount(path: HostPath, findData: FindData = untold): WritableDirectory {
  return new HeldDirectory(openSync(Buffer.from(path, 'latin1'), openDirectoryFlags), null, findData);
}

class HeldDirectory implements WritableDirectory {
  readonly identity: { readonly dev: bigint; readonly ino: bigint };
  readonly #parent: HeldDirectory | null;
  readonly #depth: number;
  readonly #findData: FindData;
  #fd: number;
  #prefix: string;

  constructor(fd: number, parent: HeldDirectory | null, findData: FindData) {
    this.#fd = fd;
    this.#findData = findData;
    this.#prefix = `/proc/self/fd/${String(fd)}/`;
    this.#parent = parent;
    this.#depth = parent === null ? 0 : parent.#depth + 1;
    const stat = fstatSync(fd, { bigint: true });
    this.identity = { dev: stat.dev, ino: stat.ino };
  }

  get descriptorPath(): string {
    return this.#prefix.slice(0, -1);
  }

  list(): string[] {
    return readdirSync(this.#at(''), { encoding: 'latin1' }).sort(byByte);
  }

  stat(name: string): EntryStat | undefined {
    const stat = lstatSync(this.#at(name), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : toEntryStat(stat);
  }

  statSelf(): EntryStat {
    return toEntryStat(fstatSync(this.#fd, { bigint: true }));
  }

  readLink(name: string): string {
    return readlinkSync(this.#at(name), { encoding: 'latin1' });
  }

  openFile(name: string): OpenFile {
    return ReadFile.open(this.#at(name), this.#findData);
  }

  enter(name: string): HeldDirectory {
    const child = new HeldDirectory(openSync(this.#at(name), openDirectoryFlags), this, this.#findData);
    const far = child.#ancestor(heldAtMost);
    // The root is used by itself, whatever chains lead from it.
    if (far !== null && far.#parent !== null) far.#park();
    return child;
  }

  close(): void {
    if (this.#fd < 0) return;
    if (this.#parent !== null) this.#parent.#unpark(this);
    this.#park();
  }

  createFile(name: string): NewFile {
    return WrittenFile.create(this.#at(name));
  }

  makeDirectory(name: string): void {
    mkdirSync(this.#at(name), 0o700);
  }

  makeSymlink(name: string, target: string): void {
    symlinkSync(Buffer.from(target, 'latin1'), this.#at(name));
  }

  link(from: WritableDirectory, existing: string, name: string): void {
    linkSync(below(`${from.descriptorPath}/`, existing), this.#at(name));
  }

  rename(name: string, newName: string, to: WritableDirectory = this): void {
    renameSync(this.#at(name), below(`${to.descriptorPath}/`, newName));
  }

  unlink(name: string): void {
    unlinkSync(this.#at(name));
  }

  removeDirectory(name: string): void {
    rmdirSync(this.#at(name));
  }

  setAttributes(
    name: string,
    seen: EntryStat,
    { uid, gid, mode }: { readonly uid: number; readonly gid: number; readonly mode: number | null },
  ): 'set' | 'owner_refused' | 'another' {
    const handle = openSync(this.#at(name), openHandleFlags);
    try {
      const present = toEntryStat(fstatSync(handle, { bigint: true }));
      if (present.ino !== seen.ino || present.dev !== seen.dev || present.kind !== seen.kind) return 'another';
      const itself = `/proc/self/fd/${String(handle)}`;
      const isTheirs = present.uid === uid && present.gid === gid;
      const isOwned = isTheirs || isPermitted(() => chownSync(itself, uid, gid));
      // A change of owner clears set-id bits, so the mode comes second.
      if (mode !== null) chmodSync(itself, mode);
      return isOwned ? 'set' : 'owner_refused';
    } finally {
      closeSync(handle);
    }
  }

  syncFile(name: string, seen: EntryStat): boolean {
    const handle = openSync(this.#at(name), openHandleFlags);
    try {
      const present = toEntryStat(fstatSync(handle, { bigint: true }));
      if (present.kind !== 'file' || present.ino !== seen.ino || present.dev !== seen.dev) return false;
      return isSynced(`/proc/self/fd/${String(handle)}`);
    } finally {
      closeSync(handle);
    }
  }

  setOwnMode(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  setOwnOwner(uid: number, gid: number): boolean {
    return isPermitted(() => {
      fchownSync(this.#fd, uid, gid);
    });
  }

  sync(): void {
    fsyncSync(this.#fd);
  }

  #at(name: string): string | Buffer {
    if (this.#fd < 0)
      throw new SnapError('INTERNAL', 'A directory was used after it was closed.', { what: 'directory' });
    return below(this.#prefix, name);
  }

  #ancestor(levels: number): HeldDirectory | null {
    if (this.#depth < levels) return null;
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the walk up starts here
    let directory: HeldDirectory | null = this;
    for (let level = 0; level < levels && directory !== null; level++) directory = directory.#parent;
    return directory;
  }

  #park(): void {
    if (this.#fd < 0) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }

  /** Comes back to a parked parent by "..", and only if that still is the same directory. */
  #unpark(child: HeldDirectory): void {
    if (this.#fd >= 0) return;
    const fd = openSync(`${child.#prefix}..`, openDirectoryFlags);
    const stat = fstatSync(fd, { bigint: true });
    if (stat.ino !== this.identity.ino || stat.dev !== this.identity.dev) {
      closeSync(fd);
      throw new SnapError('MOUNT_CHANGED', 'A directory was moved while it was being looked at.', {
        what: 'directory',
      });
    }
    this.#fd = fd;
    this.#prefix = `/proc/self/fd/${String(fd)}/`;
  }
}

function below(prefix: string, name: string): string | Buffer {
  return isAscii(name) ? prefix + name : Buffer.concat([Buffer.from(prefix), Buffer.from(name, 'latin1')]);
}

function byByte(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** False when the caller may not open it. */
function isSynced(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'EACCES') return false;
    throw error;
  }
  try {
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}

/** False when the caller may not do it. */
function isPermitted(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (systemCode(error) === 'EPERM') return false;
    throw error;
  }
}
