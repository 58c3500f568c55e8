import { createCipheriv } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import type { Random } from '../../test/support/random.js';
import type { Package } from './package-files.js';

const chunk = 1 << 20;

/** One file of this size: each MiB is half noise, half code. */
export function writeBigFile(path: string, size: number, packages: readonly Package[], random: Random): void {
  const noise = noiseFrom(random);
  const code = Buffer.concat(packages.flatMap(({ files }) => files.map(({ content }) => content)));
  const file = openSync(path, 'w');
  for (let at = 0; at < size; at += chunk) {
    const from = random.below(Math.max(1, code.length - chunk / 2));
    const content = Buffer.concat([noise(chunk / 2), code.subarray(from, from + chunk / 2)]);
    writeSync(file, content, 0, Math.min(content.length, size - at), at);
  }
  closeSync(file);
}

/** A file of this size that holds nothing but a few ranges of noise; gives where they begin. */
export function writeSparseFile(path: string, size: number, random: Random): number[] {
  const noise = noiseFrom(random);
  const file = openSync(path, 'w');
  ftruncateSync(file, size);
  const starts = Array.from({ length: 8 }, () => random.below(size / rangeLength) * rangeLength);
  for (const start of starts) writeSync(file, noise(rangeLength), 0, rangeLength, start);
  closeSync(file);
  return starts;
}

export const rangeLength = 1 << 16;

export function readRange(path: string, start: number): Buffer {
  const content = Buffer.alloc(rangeLength);
  const file = openSync(path, 'r');
  readSync(file, content, 0, rangeLength, start);
  closeSync(file);
  return content;
}

// The key stream of a cipher: nothing compresses it, and it follows from the seed.
function noiseFrom(random: Random): (length: number) => Buffer {
  const key = Buffer.from(random.bytes(16), 'latin1');
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (length) => cipher.update(Buffer.alloc(length));
}
