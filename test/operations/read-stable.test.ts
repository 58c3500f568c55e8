import { expect, test } from 'vitest';

import type { EntryStat } from '../../src/core/entry.js';
import type { Directory, OpenFile } from '../../src/core/ports.js';
import { hasher } from '../../src/git/pack/hasher.js';
import { readStable } from '../../src/operations/capture/read-stable.js';

/** A file whose stat never changes, whatever is read of it: some file systems tell a size that is not there. */
function oddFile(size: number, content: string): Pick<Directory, 'openFile'> {
  const stat = { kind: 'file', size, mode: 0o644, ino: 1n, dev: 1n, mtimeNs: 1n, ctimeNs: 1n } as unknown as EntryStat;
  const read = (buffer: Uint8Array, from: number): number => {
    const piece = Buffer.from(content).subarray(from, from + buffer.length);
    buffer.set(piece);
    return piece.length;
  };
  let position = 0;
  const file: OpenFile = {
    stat: () => stat,
    read: (buffer) => {
      const length = read(buffer, position);
      position += length;
      return length;
    },
    readAt: read,
    dataRanges: () => Promise.resolve(undefined),
    close: () => (position = 0),
  };
  return { openFile: () => file };
}

test.each([
  { what: 'as much as it says', size: 4, content: 'four', isStable: true },
  { what: 'less than it says', size: 5, content: 'four', isStable: false },
  { what: 'more than it says', size: 3, content: 'four', isStable: false },
])('a file that holds $what is stable: $isStable', async ({ size, content, isStable }) => {
  const read = await readStable(oddFile(size, content) as Directory, 'a', hasher);
  if (isStable) expect(read).toMatchObject({ oid: hasher.writeBlob(Buffer.from(content)), bytesRead: size });
  else expect(read).toBe('unstable');
});
