import { describe, expect, test } from 'vitest';

import { SparseMapReader } from '../../src/core/sparse-map.js';

const size = 1_000_000_000;
const block = 65_536;

function header(flag: string, length: number): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write(`${length.toString(8).padStart(11, '0')}\0`, 124);
  bytes.write(flag, 156);
  return bytes;
}

function padded(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);
}

const sparse = '22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n';
const real = `31 GNU.sparse.realsize=${size}\n`;

function tar(map: string, said = sparse + real): Buffer {
  return Buffer.concat([header('x', said.length), padded(said), header('0', 512), padded(map)]);
}

function read(bytes: Buffer, chunkBytes = 100): ReturnType<SparseMapReader['push']> {
  const reader = new SparseMapReader(size);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const answer = reader.push(bytes.subarray(at, at + chunkBytes));
    if (answer !== undefined) return answer;
  }
  return undefined;
}

test.each([1, 7, 512, 5000])('ranges are read, in portions of %d bytes', (chunkBytes) => {
  const map = `3\n65536\n100\n131072\n4096\n${size}\n0\n`;
  expect(read(tar(map), chunkBytes)).toEqual({ ranges: [{ offset: block, length: 2 * block }] });
});

test('a file without data has none', () => {
  expect(read(tar(`1\n${size}\n0\n`))).toEqual({ ranges: [] });
  expect(read(tar('0\n'))).toEqual({ ranges: [] });
});

test('there is no answer before the map is complete', () => {
  expect(read(tar(`2\n0\n100\n${size}\n`).subarray(0, 1550))).toBeUndefined();
  expect(read(Buffer.alloc(0))).toBeUndefined();
});

describe('no map is taken from', () => {
  test.each([
    { what: 'something else', bytes: Buffer.alloc(2048, 'x') },
    { what: 'zeros', bytes: Buffer.alloc(2048) },
    { what: 'a file that is not sparse', bytes: Buffer.concat([header('0', 100), Buffer.alloc(512)]) },
    { what: 'a header that does not say so', bytes: tar('0\n', real) },
    { what: 'a file of another size', bytes: tar('0\n', `${sparse}31 GNU.sparse.realsize=1000000001\n`) },
    { what: 'another version', bytes: tar('0\n', `22 GNU.sparse.major=0\n22 GNU.sparse.minor=1\n${real}`) },
    { what: 'an endless header', bytes: Buffer.concat([header('x', 1e9), Buffer.alloc(2048)]) },
    { what: 'ranges that go back', bytes: tar('2\n131072\n100\n0\n100\n') },
    { what: 'ranges that overlap', bytes: tar('2\n0\n131072\n65536\n100\n') },
    { what: 'a range beyond the size', bytes: tar(`1\n${size - 10}\n11\n`) },
    { what: 'a negative number', bytes: tar('1\n-5\n11\n') },
    { what: 'words', bytes: tar('many\n') },
    { what: 'an endless number', bytes: tar('1'.repeat(100)) },
    { what: 'too many ranges', bytes: tar('99999999\n0\n1\n') },
  ])('$what', ({ bytes }) => {
    expect(read(bytes)).toEqual({ ranges: undefined });
  });
});
