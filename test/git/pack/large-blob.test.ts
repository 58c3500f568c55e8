import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../../src/core/ids.js';
import { fsckStrict, storeGit } from '../../support/store-git.js';
import { bytesOf, commitContent, file, openingIn, peakMemory, preparedStore, runScript } from '../fixture.js';

describe('a large blob', () => {
  const source = (content: Buffer): (() => { next(buffer: Uint8Array): number }) => {
    return () => {
      let at = 0;
      return {
        next(buffer) {
          const length = content.copy(buffer, 0, at, Math.min(content.length, at + buffer.length));
          at += length;
          return length;
        },
      };
    };
  };

  test.each([0, 1, 3_000_000, 40_000_000])('of %i bytes is read back as it was', async (size) => {
    const { store, dataDir } = await preparedStore();
    let previous: ObjectId | null = null;
    for (const content of [randomBytes(size), Buffer.alloc(size, 'line of text\n')]) {
      const writer = store.newWriter();
      const oid = await writer.writeLargeBlob(size, source(content));
      expect(oid).toBe(createHash('sha1').update(`blob ${size}\0`).update(content).digest('hex'));
      const small = writer.writeBlob(bytesOf(`after ${size}`));
      const commit = writer.writeCommit(
        commitContent(writer.writeTree([file('big', oid!), file('small', small)]), 'm\n'),
      );
      await writer.publish();
      await store.changeRefs([{ name: 'refs/jackin/t/1', old: previous, new: commit }]);
      previous = commit;
      expect(storeGit(dataDir, ['cat-file', 'blob', oid!]).stdoutBytes.equals(content)).toBe(true);
    }
    expect(fsckStrict(dataDir)).toEqual([]);
  });

  test('that is noise in part is deflated where that pays', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const noise = (): Buffer => randomBytes(3_000_001);
    const text = Buffer.alloc(5_000_003, 'line of text\n');
    const content = Buffer.concat([noise(), text, noise(), text]);
    const oid = (await writer.writeLargeBlob(content.length, source(content)))!;
    await writer.publish();
    expect(writer.bytesAdded).toBeLessThan(9_000_000);
    expect(storeGit(dataDir, ['cat-file', 'blob', oid]).stdoutBytes.equals(content)).toBe(true);
  });

  test.each([
    { change: 'grew', first: 3_000_000, second: 3_000_001 },
    { change: 'shrank', first: 3_000_000, second: 2_999_999 },
  ])('that $change between the two readings is not stored', async ({ first, second }) => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const before = (await writer.writeLargeBlob(6, source(bytesOf('before'))))!;
    const bytes = writer.bytesAdded;
    let calls = 0;
    const unstable = () => source(Buffer.alloc(calls++ === 0 ? first : second, 7))();
    expect(await writer.writeLargeBlob(first, unstable)).toBeUndefined();
    expect(calls).toBe(2);
    expect(writer.bytesAdded).toBe(bytes);
    const commit = writer.writeCommit(commitContent(writer.writeTree([file('before', before)]), 'm\n'));
    await writer.publish();
    await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);
    expect(fsckStrict(dataDir)).toEqual([]);
  });

  test('that changed in place, beyond what is kept in memory, is taken back from the file', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const kept = writer.writeBlob(randomBytes(1000));
    let calls = 0;
    const size = 80_000_000;
    const unstable = () => source(randomBytes(size).fill(calls++, 0, 10))();
    expect(await writer.writeLargeBlob(size, unstable)).toBeUndefined();
    const commit = writer.writeCommit(commitContent(writer.writeTree([file('kept', kept)]), 'm\n'));
    await writer.publish();
    await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);
    expect(fsckStrict(dataDir)).toEqual([]);
  });

  test('of another size than was said is not stored, and is read once', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    let calls = 0;
    const read = () => (calls++, source(Buffer.alloc(100)))();
    expect(await writer.writeLargeBlob(99, read)).toBeUndefined();
    expect(await writer.writeLargeBlob(101, read)).toBeUndefined();
    expect(calls).toBe(2);
    expect(writer.bytesAdded).toBe(0);
  });

  test('that is known is read once', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const content = Buffer.alloc(1_000_000, 'x');
    const oid = writer.writeBlob(content);
    let calls = 0;
    expect(await writer.writeLargeBlob(content.length, () => (calls++, source(content)()))).toBe(oid);
    expect(calls).toBe(1);
  });

  test('excludes other writes while it is written', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const large = writer.writeLargeBlob(2_000_000, source(randomBytes(2_000_000)));
    expect(() => writer.writeBlob(bytesOf('x'))).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
    expect(await large).toBeDefined();
    expect(writer.writeBlob(bytesOf('x'))).toMatch(/^[0-9a-f]{40}$/);
  });

  test('whose reading fails leaves the pack as it was', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    await writer.writeLargeBlob(6, source(bytesOf('before')));
    const bytes = writer.bytesAdded;
    let calls = 0;
    const failing = () => {
      let reads = 0;
      return {
        next(buffer: Uint8Array): number {
          reads++;
          if (calls === 1 && reads === 3) throw Object.assign(new Error('read'), { code: 'EIO' });
          if (reads > 4) return (++calls, 0);
          buffer.fill(reads);
          return buffer.length;
        },
      };
    };
    const perPiece = 512 * 1024;
    await expect(writer.writeLargeBlob(4 * perPiece, failing)).rejects.toMatchObject({ code: 'EIO' });
    expect(writer.bytesAdded).toBe(bytes);
    await writer.publish();
    expect(storeGit(dataDir, ['count-objects', '-v']).stdout).toContain('in-pack: 1\n');
  });

  test('takes little memory, however large it is, when written and when read', async () => {
    const { dataDir } = await preparedStore();
    const { text, errors } = await runScript(`${openingIn(dataDir)}
      const size = 700_000_000;
      const noise = (await import('node:crypto')).randomBytes(1_000_003);
      const source = () => {
        let left = size;
        return { next: (buffer) => { const length = noise.copy(buffer, 0, 0, Math.min(buffer.length, left)); left -= length; return length; } };
      };
      const before = ${peakMemory};
      const writer = store.newWriter();
      const oid = await writer.writeLargeBlob(size, source);
      await writer.publish();
      const reader = store.reader();
      let read = 0;
      await reader.stream(oid, async (chunk) => { read += chunk.length; if (read % 64 === 0) await new Promise((resolve) => setImmediate(resolve)); });
      await reader.close();
      console.log(JSON.stringify({ read, grown: (${peakMemory} - before) / 1024 }));`);
    expect(errors).toBe('');
    const { read, grown } = JSON.parse(text) as { read: number; grown: number };
    expect(read).toBe(700_000_000);
    expect(grown).toBeLessThan(150);
  });
});
