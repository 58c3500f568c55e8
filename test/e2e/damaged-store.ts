import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import type { HostPath } from '../../src/core/entry-path.js';
import { type JackinSnap, type SnapOptions, createSnap } from '../../src/index.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { writeFiles } from '../support/user-git.js';

/*
 * Stores to be damaged, and what stock git can still read of their snapshots.
 */

/** How the objects lie: a pack for each save, one pack with deltas, or each in its own file. */
export type Layout = 'packs' | 'one pack' | 'loose';
export const layouts: readonly Layout[] = ['packs', 'one pack', 'loose'];

export interface StoreCopy {
  readonly dataDir: string;
  readonly objects: string;
  /** The objects that each snapshot needs, by its number. */
  readonly needed: ReadonlyMap<number, readonly string[]>;
}

/** Saves a folder five times; each snapshot shares something with others, and has something of its own. */
export async function savedFiveTimes(area: string): Promise<string> {
  const [mount, dataDir] = [join(area, 'm'), join(area, 'data')];
  mkdirSync(mount, { recursive: true });
  const snap = snapOver(dataDir);
  const long = Array.from({ length: 200 }, (_, line) => `line ${line}\n`);
  writeFiles(mount, { 'same/a': 'the same\n', 'same/b': 'the same, too\n', '.gitignore': 'left-out-*\n' });
  for (let seq = 1; seq <= 5; seq++) {
    long[seq * 20] = `changed by ${seq}\n`;
    writeFiles(mount, {
      long: long.join(''),
      [`own/${seq}`]: `${createHash('sha256').update(String(seq)).digest('base64')}\n`.repeat(20),
      [`left-out-${seq}`]: 'x',
    });
    chmodSync(join(mount, 'own'), 0o700 + seq);
    const folders = seq > 1 ? [] : [{ name: null, path: mount as HostPath }];
    await snap.save({ folders });
    rmSync(join(mount, `own/${seq}`));
  }
  return dataDir;
}

export function snapOver(dataDir: string, options: SnapOptions = {}): JackinSnap {
  return createSnap({ dataDir, instance: 't', ...options });
}

/** A copy with its objects laid out anew. */
export function copyOf(saved: string, dataDir: string, layout: Layout): StoreCopy {
  cpSync(saved, dataDir, { recursive: true });
  const objects = join(dataDir, 'store.git/objects');
  if (layout === 'one pack') storeGit(dataDir, ['repack', '-a', '-d', '-q', '-f']);
  if (layout === 'loose') {
    for (const name of packsIn(objects)) {
      const content = readFileSync(name);
      for (const suffix of ['.pack', '.idx']) rmSync(name.replace('.pack', suffix));
      storeGit(dataDir, ['unpack-objects', '-q'], { stdin: content });
    }
  }
  for (const path of filesBelow(objects)) chmodSync(path, 0o600);
  const needed = [1, 2, 3, 4, 5].map((seq) => {
    const { stdout } = storeGit(dataDir, ['rev-list', '--objects', '--no-object-names', `refs/jackin/t/${seq}`], {
      env,
    });
    return [seq, stdout.trim().split('\n')] as const;
  });
  return { dataDir, objects, needed: new Map(needed) };
}

export function packsIn(objects: string): string[] {
  return filesBelow(join(objects, 'pack'))
    .filter((path) => path.endsWith('.pack'))
    .sort();
}

export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

export function idOf({ dataDir }: StoreCopy, name: string): string {
  return storeGit(dataDir, ['rev-parse', '--verify', name], { env }).stdout.trim();
}

/** Where the bytes of an object lie: each of its copies. */
export function placesOf({ dataDir, objects }: StoreCopy, id: string): { path: string; start: number; end: number }[] {
  const places = [];
  for (const pack of packsIn(objects)) {
    const listed = storeGit(dataDir, ['show-index'], { stdin: readFileSync(pack.replace('.pack', '.idx')) }).stdout;
    const lines = listed.trim().split('\n');
    const found = lines.map((line) => line.split(' ')).map(([offset, oid]) => ({ start: Number(offset), oid }));
    const starts = [...found.map(({ start }) => start), statSync(pack).size - 20].sort((a, b) => a - b);
    for (const { start, oid } of found)
      if (oid === id) places.push({ path: pack, start, end: starts[starts.indexOf(start) + 1]! });
  }
  const loose = join(objects, id.slice(0, 2), id.slice(2));
  const size = statSync(loose, { throwIfNoEntry: false })?.size;
  if (size !== undefined) places.push({ path: loose, start: 0, end: size });
  return places;
}

/** As a disk does it: neither the size nor the times of the file say so. */
export function flip(path: string, at: number, bit = 0): void {
  const { atime, mtime } = statSync(path);
  const content = readFileSync(path);
  content[at]! ^= 1 << bit;
  writeFileSync(path, content);
  utimesSync(path, atime, mtime);
}

/** The numbers of the snapshots of which stock git cannot give every object, as its id says. */
export function lostToGit({ dataDir, needed }: StoreCopy): number[] {
  return [...needed].filter(([, ids]) => !ids.every((id) => canRead(dataDir, id))).map(([seq]) => seq);
}

/** The history that grafts show is no part of a snapshot. */
const env = { GIT_NO_REPLACE_OBJECTS: '1' };

const types = ['blob', 'tree', 'commit'];

function canRead(dataDir: string, id: string): boolean {
  const { stdoutBytes, code } = storeGit(dataDir, ['cat-file', '--batch'], { stdin: `${id}\n`, mayFail: true, env });
  const end = stdoutBytes.indexOf(0x0a);
  const [, type = '', size = ''] = stdoutBytes.toString('latin1', 0, end).split(' ');
  if (code !== 0 || !types.includes(type)) return false;
  const content = stdoutBytes.subarray(end + 1, end + 1 + Number(size));
  return createHash('sha1').update(`${type} ${size}\0`).update(content).digest('hex') === id;
}

/** A git that writes down, a line each, what it is started with. */
export function watchGit(dataDir: string): { log: string; env: Record<string, string> } {
  const directory = tempDir('watched');
  const [bin, log] = [join(directory, 'bin'), join(directory, 'calls')];
  mkdirSync(bin);
  const path = process.env['PATH']!;
  const real = path.split(':').find((entry) => existsSync(join(entry, 'git')))!;
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >>'${log}'\nexec '${real}/git' "$@"\n`, { mode: 0o755 });
  rmSync(join(dataDir, 'cache/git-version.json'), { force: true });
  return { log, env: { PATH: `${bin}:${path}` } };
}
