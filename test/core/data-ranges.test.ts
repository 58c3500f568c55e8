import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  BlockRanges,
  type DataRange,
  type Piece,
  RangesDecoder,
  beginsLikeRanges,
  encodeRangesHeader,
  rangesHeaderAtMost,
} from '../../src/core/data-ranges.js';

const block = 65_536;

/** The file's bytes as the pieces of a blob give them, cut in chunks of this size. */
function decode(blob: Buffer, size: number, chunkBytes = 1000): Buffer {
  const decoder = new RangesDecoder(size);
  const pieces: Piece[] = [];
  for (let at = 0; at < blob.length; at += chunkBytes) pieces.push(...decoder.push(blob.subarray(at, at + chunkBytes)));
  pieces.push(...decoder.finish());
  return Buffer.concat(pieces.map((piece) => ('hole' in piece ? Buffer.alloc(piece.hole) : piece.data)));
}

function blobOf(content: Buffer, ranges: readonly DataRange[]): Buffer {
  const header = encodeRangesHeader(content.length, ranges)!;
  return Buffer.concat([header, ...ranges.map(({ offset, length }) => content.subarray(offset, offset + length))]);
}

test('the header is text', () => {
  const header = encodeRangesHeader(200_000, [
    { offset: 0, length: block },
    { offset: 196_608, length: 3392 },
  ]);
  expect(header?.toString('latin1')).toBe('jackin-ranges 1\n200000\n0 65536\n196608 3392\n\n');
  expect(beginsLikeRanges(header!)).toBe(true);
});

test('a file that is all hole has no ranges', () => {
  const blob = encodeRangesHeader(300_000, [])!;
  expect(blob.toString('latin1')).toBe('jackin-ranges 1\n300000\n\n');
  expect(decode(blob, 300_000)).toEqual(Buffer.alloc(300_000));
});

test('no longer header is written than is read', () => {
  const ranges = Array.from({ length: 700_000 }, (_, at) => ({ offset: at * 2 * block, length: block }));
  expect(encodeRangesHeader(1e12, ranges)).toBeUndefined();
  const some = ranges.slice(0, 300_000);
  expect(encodeRangesHeader(1e12, some)!.length).toBeLessThan(rangesHeaderAtMost);
});

test('content comes back, wherever its data lies and the blob is cut', () => {
  const filled = fc.uniqueArray(fc.nat(9), { maxLength: 10 });
  fc.assert(
    fc.property(
      filled,
      fc.integer({ min: 1, max: block }),
      fc.integer({ min: 7, max: 90_000 }),
      (blocks, tail, cut) => {
        const content = Buffer.alloc(9 * block + tail);
        const ranges = new BlockRanges(content.length);
        for (const at of blocks.sort((a, b) => a - b)) {
          content.fill(at + 1, at * block, at * block + Math.min(500, tail));
          ranges.add(at * block, Math.min(500, tail));
        }
        expect(decode(blobOf(content, ranges.ranges), content.length, cut).equals(content)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

describe('ranges grow to blocks and are joined', () => {
  test.each<{ what: string; added: [number, number][]; ranges: [number, number][] }>([
    { what: 'a byte', added: [[block + 5, 1]], ranges: [[block, block]] },
    {
      what: 'neighbours',
      added: [
        [0, 1],
        [block, 1],
      ],
      ranges: [[0, 2 * block]],
    },
    {
      what: 'two in a block',
      added: [
        [1, 1],
        [9, 1],
      ],
      ranges: [[0, block]],
    },
    { what: 'one over a boundary', added: [[block - 1, 2]], ranges: [[0, 2 * block]] },
    { what: 'the end of the file', added: [[3 * block, 10]], ranges: [[3 * block, 100]] },
    { what: 'nothing', added: [[block, 0]], ranges: [] },
    { what: 'what lies beyond the size', added: [[9 * block, 10]], ranges: [] },
  ])('$what', ({ added, ranges }) => {
    const found = new BlockRanges(3 * block + 100);
    for (const [offset, length] of added) found.add(offset, length);
    expect(found.ranges.map(({ offset, length }) => [offset, length])).toEqual(ranges);
  });
});

describe('a blob is damaged when', () => {
  const size = 4 * block + 10;
  const data = 'x'.repeat(block);
  test.each([
    { why: 'it is empty', blob: '' },
    { why: 'it is something else', blob: `#!/bin/sh\n\n${data}` },
    { why: 'it is of another version', blob: `jackin-ranges 2\n${size}\n\n` },
    { why: 'its header has no end', blob: `jackin-ranges 1\n${size}\n0 65536\n` },
    { why: 'its size is another', blob: `jackin-ranges 1\n${size + 1}\n\n` },
    { why: 'its size is no number', blob: 'jackin-ranges 1\n1e9\n\n' },
    { why: 'its size is too large to be one', blob: 'jackin-ranges 1\n99999999999999999999\n\n' },
    { why: 'a number has a leading zero', blob: `jackin-ranges 1\n0${size}\n\n` },
    { why: 'a range is no pair', blob: `jackin-ranges 1\n${size}\n0\n\n` },
    { why: 'a range has three numbers', blob: `jackin-ranges 1\n${size}\n0 65536 1\n\n${data}` },
    { why: 'a range is negative', blob: `jackin-ranges 1\n${size}\n-65536 65536\n\n${data}` },
    { why: 'a range is empty', blob: `jackin-ranges 1\n${size}\n0 0\n\n` },
    { why: 'a range begins within a block', blob: `jackin-ranges 1\n${size}\n1 65535\n\n${data}` },
    { why: 'a range ends within a block', blob: `jackin-ranges 1\n${size}\n0 65535\n\n${data}` },
    { why: 'a range leads beyond the size', blob: `jackin-ranges 1\n${size}\n262144 11\n\n${'x'.repeat(11)}` },
    { why: 'ranges go back', blob: `jackin-ranges 1\n${size}\n131072 65536\n0 65536\n\n${data}${data}` },
    { why: 'ranges overlap', blob: `jackin-ranges 1\n${size}\n0 131072\n65536 65536\n\n${data}${data}${data}` },
    { why: 'ranges touch', blob: `jackin-ranges 1\n${size}\n0 65536\n65536 65536\n\n${data}${data}` },
    { why: 'a range is there twice', blob: `jackin-ranges 1\n${size}\n0 65536\n0 65536\n\n${data}${data}` },
    { why: 'data is missing', blob: `jackin-ranges 1\n${size}\n0 65536\n\n${data.slice(1)}` },
    { why: 'a whole range is missing', blob: `jackin-ranges 1\n${size}\n0 65536\n131072 65536\n\n${data}` },
    { why: 'there is more', blob: `jackin-ranges 1\n${size}\n0 65536\n\n${data}x` },
    { why: 'there is more than nothing', blob: `jackin-ranges 1\n${size}\n\nx` },
    { why: 'its lines end as on another system', blob: `jackin-ranges 1\r\n${size}\r\n\r\n` },
    { why: 'its header is too long', blob: `jackin-ranges 1\n${size}\n${'1'.repeat(rangesHeaderAtMost)}` },
  ])('$why', ({ blob }) => {
    const damage = expect.objectContaining({ code: 'STORE_DAMAGED' });
    expect(() => decode(Buffer.from(blob, 'latin1'), size, 65_536)).toThrow(damage);
  });

  test('any byte of its header is another one, or it says the same', () => {
    const content = Buffer.alloc(size);
    content.fill('x', block, 2 * block);
    const blob = blobOf(content, [{ offset: block, length: block }]);
    const header = blob.indexOf('\n\n') + 2;
    fc.assert(
      fc.property(fc.nat(header - 1), fc.nat(255), (at, byte) => {
        const other = Buffer.from(blob);
        other[at] = byte;
        try {
          expect(decode(other, size).length).toBe(size);
        } catch (error) {
          expect(error).toMatchObject({ code: 'STORE_DAMAGED' });
        }
      }),
      { numRuns: 300 },
    );
  });
});
