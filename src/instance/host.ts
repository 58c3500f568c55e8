import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readlinkSync, realpathSync, statfsSync } from 'node:fs';
import { homedir } from 'node:os';

import { type EntryPath, bytesOfText, displayPath } from '../core/entry-path.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably } from '../fs/durable.js';

/*
 * The host's folders by path (bytes). Nothing in a mount is read or written through here.
 */

const notThere: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG']);

/** The folder that this process is in. */
export function currentFolder(): string {
  return readlinkSync('/proc/self/cwd', { encoding: 'latin1' });
}

/** Undefined when nothing is there. */
export function realPath(path: string): string | undefined {
  try {
    // The other one takes text only.
    return realpathSync.native(toBuffer(path), { encoding: 'latin1' });
  } catch (error) {
    if (notThere.has(systemCode(error))) return undefined;
    throw error;
  }
}

/** Device and inode of what is there itself, a link included. */
export function identity(path: string): { dev: bigint; ino: bigint; directory: boolean } | undefined {
  try {
    const stat = lstatSync(toBuffer(path), { bigint: true });
    return { dev: stat.dev, ino: stat.ino, directory: stat.isDirectory() };
  } catch (error) {
    if (notThere.has(systemCode(error))) return undefined;
    throw error;
  }
}

/** True for the caller's home and for every home in the machine's list of users. */
export function isHome(path: string, home: string | undefined): boolean {
  return homes(home).some((known) => known === path || realPath(known) === path);
}

function homes(home: string | undefined): string[] {
  const own = [home, homedir()]
    .filter((known) => known !== undefined && known !== '')
    .map((known) => bytesOfText(known ?? ''));
  return [
    ...own,
    ...listedHomes().filter((known) => known !== '/' && known !== '' && !known.startsWith('/nonexistent')),
  ];
}

/** Home directories of people and root; those of system accounts (/var/lib/…, /bin) are ordinary folders. */
function listedHomes(): string[] {
  try {
    const accounts = readFileSync('/etc/passwd', 'latin1')
      .split('\n')
      .map((line) => line.split(':'));
    return accounts.filter(([, , uid]) => uid === '0' || Number(uid) >= 1000).map((fields) => fields[5] ?? '');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

/** @throws SnapError PATH_NOT_FOUND when its parent does not exist */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(toBuffer(path), { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
    throw new SnapError(
      'PATH_NOT_FOUND',
      `The folder that ${displayPath(path)} would lie in does not exist.`,
      { path: displayPath(path), where: 'host' },
      { cause: error },
    );
  }
}

/** With those above it that are missing, each mode 0700; durable. */
export function makePrivateDirectories(path: string): void {
  makeDirectoryDurably(Buffer.from(path, 'latin1').toString('utf8'));
}

export function digest(bytes: string): string {
  return createHash('sha256').update(toBuffer(bytes)).digest('hex');
}

export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(toBuffer(path));
  return bavail * bsize;
}

/**
 * Paths below a folder, relative to it, where something is mounted: a bind mount may show the device of all around it.
 */
export function mountPointsBelow(path: string): Set<EntryPath> {
  const prefix = path === '/' ? '/' : `${path}/`;
  return new Set(
    mountTable()
      .map((line) => line.split(' ')[4] ?? '')
      .map((point) => point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8))))
      .filter((point) => point.startsWith(prefix))
      .map((point) => point.slice(prefix.length) as EntryPath),
  );
}

function mountTable(): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1').split('\n');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

function toBuffer(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}
