import { chmodSync, lstatSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import type { Random } from '../../support/random.js';
import { walkTree } from '../../support/walk.js';

/** The files below a folder in kinds: those whose names differ in ids and numbers alone are of one kind. */
export function kindsOfFiles(folder: string): string[][] {
  const kinds = new Map<string, string[]>();
  for (const { path, type } of walkTree(folder, { hash: false })) {
    if (type !== 'file' || /(^|\/)locks\//.test(path) || path.endsWith('.sample')) continue;
    const kind = path
      .replace(/[0-9a-f]{38,40}/g, 'ID')
      .replace(/(objects|cache)\/[0-9a-f]{2}\//, '$1/xx/')
      .replace(/\d+/g, 'N');
    kinds.set(kind, [...(kinds.get(kind) ?? []), path]);
  }
  return [...kinds.values()];
}

/** Damages a file as a failing disk does: its times stay, mostly. @returns what was done */
export function damageFile(file: string, random: Random): string {
  const { mode, size, atime, mtime } = lstatSync(file);
  if (random.oneIn(6)) {
    rmSync(file);
    return 'deleted';
  }
  chmodSync(file, mode | 0o200);
  const done = size === 0 ? grown(file) : random.pick([flipped, flipped, flipped, zeroed, cut])(file, random);
  chmodSync(file, mode & 0o7777);
  if (!random.oneIn(4)) utimesSync(file, atime, mtime);
  return done;
}

function grown(file: string): string {
  writeFileSync(file, '\0');
  return 'grown by a zero';
}

function flipped(file: string, random: Random): string {
  const bytes = readFileSync(file);
  const done: string[] = [];
  for (let flips = random.oneIn(3) ? 1 + random.below(8) : 1; flips > 0; flips -= 1) {
    const [at, bit] = [random.below(bytes.length), random.below(8)];
    bytes[at] = bytes[at]! ^ (1 << bit);
    done.push(`${at}:${bit}`);
  }
  writeFileSync(file, bytes);
  return `bits flipped: ${done.join(' ')}`;
}

function zeroed(file: string, random: Random): string {
  const bytes = readFileSync(file);
  const page = random.below(Math.ceil(bytes.length / 4096));
  bytes.subarray(page * 4096, (page + 1) * 4096).fill(0);
  writeFileSync(file, bytes);
  return `page ${page} zeroed`;
}

function cut(file: string, random: Random): string {
  const length = random.oneIn(3) ? 0 : random.below(lstatSync(file).size);
  truncateSync(file, length);
  return `cut to ${length}`;
}
