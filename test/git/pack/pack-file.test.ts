import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { packHeader } from '../../../src/git/pack/format.js';
import { PackFile } from '../../../src/git/pack/pack-file.js';
import { tempDir } from '../../support/temp.js';

const mebibyte = 1024 * 1024;
const headerBytes = packHeader(0).length;

test.each([
  { before: 0, taken: 1, where: 'right after the header' },
  { before: 100, taken: 3 * mebibyte, where: 'in the first block' },
  { before: mebibyte - headerBytes, taken: 1, where: 'where a block begins' },
  { before: mebibyte - headerBytes - 1, taken: 1, where: 'where a block ends' },
  { before: 3 * mebibyte, taken: 2 * mebibyte, where: 'in a later block' },
  { before: 5 * mebibyte, taken: 40 * mebibyte, where: 'in what has gone to the file since' },
  { before: 40 * mebibyte, taken: mebibyte / 2, where: 'beyond what is in the file' },
  { before: 40 * mebibyte, taken: 0, where: 'at the end' },
])('is taken back to where it was, $where', async ({ before, taken }) => {
  const path = join(tempDir('pack'), 'pack');
  const [kept, lost, after] = [before, taken, 2 * mebibyte].map((size) => randomBytes(size)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const pack = new PackFile(path);
  pack.append(kept);
  const position = pack.position;
  pack.append(lost);
  pack.rewindTo(position);
  expect(pack.position).toBe(headerBytes + before);
  pack.append(after);
  const sum = await pack.finish(7, false);
  expect(readFileSync(path).equals(Buffer.concat([packHeader(7), kept, after, sum]))).toBe(true);
});

test('is no file while it is small, and does not keep what it was given', async () => {
  const path = join(tempDir('pack'), 'pack');
  const pack = new PackFile(path);
  const lent = Buffer.from('lent');
  pack.append(lent);
  lent.fill(0);
  expect(existsSync(path)).toBe(false);
  await pack.finish(0, false);
  expect(
    readFileSync(path)
      .subarray(headerBytes, headerBytes + 4)
      .toString(),
  ).toBe('lent');
});
