import { expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { streamStored, withZeros } from '../../src/operations/stored-bytes.js';

const oid = '0'.repeat(40) as ObjectId;

async function bytesOf(blob: string, entry: { readonly size: number; readonly byRanges?: boolean }): Promise<string> {
  const parts: Buffer[] = [];
  const reader: Parameters<typeof streamStored>[0] = {
    stream: async (_, onChunk) => {
      await onChunk(Buffer.from(blob));
    },
  };
  const sink = withZeros((chunk) => void parts.push(Buffer.from(chunk)));
  await streamStored(reader, { kind: 'file', oid, ...entry }, sink);
  return Buffer.concat(parts).toString();
}

const blob = 'jackin-ranges 1\n65546\n65536 10\n\n0123456789';

test('a blob by ranges is what it stands for', async () => {
  expect(await bytesOf(blob, { size: 65_546, byRanges: true })).toBe(`${'\0'.repeat(65_536)}0123456789`);
});

test('as the blob of any other file it is its own bytes', async () => {
  expect(await bytesOf(blob, { size: blob.length })).toBe(blob);
});

test.each([
  { what: 'no such blob', blob: 'something' },
  { what: 'one of another size', blob: blob.replace('65546', '65547') },
  { what: 'one that ends early', blob: blob.slice(0, -1) },
])('$what is damage', async ({ blob: other }) => {
  const damage = expect.objectContaining({ code: 'STORE_DAMAGED' });
  await expect(bytesOf(other, { size: 65_546, byRanges: true })).rejects.toThrow(damage);
});
