import { Buffer } from 'node:buffer';
import type { BigIntStats, Stats } from 'node:fs';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';

import { systemCode } from '../../errors.js';

/**
 * What a reading of foreign data came to. Whatever lies in a mount may be planted: a link, a pipe, something huge. Then
 * it is `unreadable`, in words, and nobody was led astray or kept waiting.
 */
export type Reading<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly why: string };

export const absent: Reading<never> = { kind: 'absent' };

export function read<Value>(value: Value): Reading<Value> {
  return { kind: 'read', value };
}

export function unreadable(why: string): Reading<never> {
  return { kind: 'unreadable', why };
}

/** The value, or undefined when there is none; what could not be read is noted. */
export function valueOf<Value>(reading: Reading<Value>, unknown: string[]): Value | undefined {
  if (reading.kind === 'unreadable') unknown.push(reading.why);
  return reading.kind === 'read' ? reading.value : undefined;
}

/**
 * A directory held by its descriptor, from which files are read. Below it no link is followed, nothing is opened but
 * directories and regular files, and no read waits. Paths are bytes.
 */
export class GuardedDirectory {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** The path leads where it leads; only its last component may not be a link. */
  static open(path: string): Reading<GuardedDirectory> {
    const opened = openDirectory(path, nameOf(path));
    return opened.kind === 'read' ? read(new GuardedDirectory(opened.value)) : opened;
  }

  /** A file's whole content, at most `limit` bytes. */
  read(path: string, limit: number): Reading<Buffer> {
    return this.withFile(path, (file) => {
      if (file.size > limit) return unreadable(`${nameOf(path)} is larger than ${limit} bytes`);
      const content = file.read(0, file.size);
      return content.length === file.size ? read(content) : unreadable(`${nameOf(path)} changed while it was read`);
    });
  }

  /** A regular file to be read piece by piece, and closed by the caller. */
  openFile(path: string): Reading<GuardedFile> {
    return this.#inParent(path, (parent, name) => {
      const stat = lstat(`${parent}/${name}`);
      if (!stat) return absent;
      return stat.isFile() ? read(GuardedFile.open(`${parent}/${name}`)) : unreadable(`${name} is not a regular file`);
    });
  }

  /** A directory below this one, to be closed by the caller. */
  enter(path: string): Reading<GuardedDirectory> {
    return this.#inParent(path, (parent, name) => {
      const opened = openDirectory(`${parent}/${name}`, name);
      return opened.kind === 'read' ? read(new GuardedDirectory(opened.value)) : opened;
    });
  }

  /** Stands for this very directory while it is open. */
  get descriptorPath(): string {
    return `/proc/self/fd/${String(this.#fd)}`;
  }

  /** Opens a regular file to be read piece by piece. A failure of the system within `act` makes it unreadable. */
  withFile<Value>(path: string, act: (file: GuardedFile) => Reading<Value>): Reading<Value> {
    return this.#inParent(path, (parent, name) => {
      const stat = lstat(`${parent}/${name}`);
      if (!stat) return absent;
      if (!stat.isFile()) return unreadable(`${nameOf(path)} is not a regular file`);
      const file = GuardedFile.open(`${parent}/${name}`);
      try {
        return act(file);
      } finally {
        file.close();
      }
    });
  }

  exists(path: string): boolean {
    return this.look(path).kind === 'read';
  }

  /** Is anything there? */
  look(path: string): Reading<true> {
    return this.#inParent(path, (parent, name) => (lstat(`${parent}/${name}`) ? read(true) : absent));
  }

  /** The names in a directory below this one. */
  list(path: string): Reading<string[]> {
    return this.#inParent(path, (parent, name) => {
      const opened = openDirectory(`${parent}/${name}`, nameOf(path));
      if (opened.kind !== 'read') return opened;
      try {
        return read(readdirSync(`/proc/self/fd/${opened.value}`, { encoding: 'latin1' }));
      } finally {
        closeSync(opened.value);
      }
    });
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Enters the path's parents one by one, so that none of them can be a link. */
  #inParent<Value>(path: string, act: (parent: string, name: string) => Reading<Value>): Reading<Value> {
    const names = path.split('/');
    const name = names.pop() ?? '';
    const opened: number[] = [];
    try {
      let parent = `/proc/self/fd/${this.#fd}`;
      for (const each of names) {
        const next = openDirectory(`${parent}/${each}`, each);
        if (next.kind !== 'read') return next;
        opened.push(next.value);
        parent = `/proc/self/fd/${next.value}`;
      }
      return act(parent, name);
    } catch (error) {
      return failure(error, nameOf(path));
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  }
}

/** A regular file that is read at given positions. */
export class GuardedFile {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly mode: number;
  readonly #fd: number;

  private constructor(fd: number, stat: BigIntStats) {
    this.#fd = fd;
    // What was a file a moment ago may be a pipe by now: reading it is harmless, because nothing waits.
    this.size = stat.isFile() ? Number(stat.size) : 0;
    this.mtimeNs = stat.mtimeNs;
    this.mode = Number(stat.mode);
  }

  static open(path: string): GuardedFile {
    const fd = openQuietly(path, constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return new GuardedFile(fd, fstatSync(fd, { bigint: true }));
  }

  /** The bytes from `position`, fewer than `length` only at the end of the file. */
  read(position: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - position)));
    let filled = 0;
    while (filled < buffer.length) {
      const from = filled;
      const count = retried(() => readSync(this.#fd, buffer, from, buffer.length - from, position + from));
      if (count === 0) break;
      filled += count;
    }
    return buffer.subarray(0, filled);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function openDirectory(path: string, name: string): Reading<number> {
  try {
    return read(openQuietly(path, constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  } catch (error) {
    if (systemCode(error) !== 'ENOTDIR' && systemCode(error) !== 'ELOOP') return failure(error, name);
    // For git, a file in a directory's place means that there is nothing. A link would lead somewhere.
    return lstat(path)?.isSymbolicLink() ? unreadable(`${name} is a link`) : absent;
  }
}

/** Opens for reading and leaves the access time alone where the system lets us. */
function openQuietly(path: string, flags: number): number {
  const bytes = Buffer.from(path, 'latin1');
  try {
    return retried(() => openSync(bytes, constants.O_RDONLY | flags | constants.O_NOATIME));
  } catch (error) {
    if (systemCode(error) !== 'EPERM') throw error;
    return retried(() => openSync(bytes, constants.O_RDONLY | flags));
  }
}

function lstat(path: string): Stats | undefined {
  try {
    return retried(() => lstatSync(Buffer.from(path, 'latin1')));
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function retried<Value>(call: () => Value): Value {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (systemCode(error) !== 'EINTR') throw error;
    }
  }
}

/** Any refusal of the system concerns only what was to be read, and is told as such. */
function failure(error: unknown, name: string): Reading<never> {
  if (isAbsence(error)) return absent;
  const code = systemCode(error);
  if (code === undefined) throw error;
  return unreadable(
    code === 'EACCES' || code === 'EPERM' ? `${name} may not be read` : `${name} cannot be read (${code})`,
  );
}

function isAbsence(error: unknown): boolean {
  return systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR';
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
