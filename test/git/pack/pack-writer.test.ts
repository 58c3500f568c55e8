import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import git from 'isomorphic-git';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../../src/core/ids.js';
import type { TreeEntry } from '../../../src/core/ports.js';
import { fileCalls } from '../../support/file-calls.js';
import { fsckStrict, storeGit } from '../../support/store-git.js';
import { bytesOf, commitContent, file, folder, preparedStore, publishSnapshot, writeSnapshot } from '../fixture.js';

const packsOf = (directory: string): string[] =>
  readdirSync(join(directory, 'objects/pack')).filter((name) => name.endsWith('.pack'));
const tmpOf = (dataDir: string): string[] =>
  existsSync(join(dataDir, 'tmp')) ? readdirSync(join(dataDir, 'tmp')) : [];

describe('what is written', () => {
  const sizes = [0, 1, 15, 16, 17, 250, 251, 2047, 2048, 7930, 7931, 65_535, 65_536, 65_537, 1_000_000];
  const contents = sizes.flatMap((size) => [
    { kind: 'random', size, content: randomBytes(size) },
    { kind: 'repetitive', size, content: Buffer.alloc(size, 'abcdefg\n') },
  ]);

  test('is what git and isomorphic-git read, whatever its size, and clean', async () => {
    const { store, directory, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const blobs = contents.map(({ content }) => writer.writeBlob(content));
    const tree = writer.writeTree(blobs.map((oid, index) => file(`f${index}`, oid)));
    const commit = writer.writeCommit(commitContent(tree, 'm\n'));
    await writer.publish();
    await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);

    expect(fsckStrict(dataDir)).toEqual([]);
    expect(storeGit(dataDir, ['verify-pack', join(directory, 'objects/pack', packsOf(directory)[0]!)]).code).toBe(0);
    const cache = {};
    for (const [index, { content }] of contents.entries()) {
      expect(storeGit(dataDir, ['cat-file', 'blob', blobs[index]!]).stdoutBytes.equals(content)).toBe(true);
      const { blob } = await git.readBlob({ fs, gitdir: directory, oid: blobs[index]!, cache });
      expect(Buffer.from(blob).equals(content)).toBe(true);
    }
    const read = await git.readTree({ fs, gitdir: directory, oid: commit, cache });
    expect(read.tree.map((entry) => entry.oid).sort()).toEqual([...blobs].sort());
    expect((await git.readCommit({ fs, gitdir: directory, oid: commit, cache })).commit.message).toBe('m\n');
  });

  test('has ids and an order that git agrees with', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const blob = writer.writeBlob(bytesOf('x'));
    const empty = writer.writeTree([]);
    const entries: TreeEntry[] = [
      folder('a', empty),
      file('a.b', blob),
      file('a0', blob),
      file('a-', blob),
      { mode: 0o100755, name: '\xff\xfe', oid: blob },
      { mode: 0o120000, name: 'line\nfeed', oid: blob },
      file('\xc3\xa9', blob),
    ];
    const tree = writer.writeTree(entries);
    await writer.publish();
    const lines = entries.map(
      ({ mode, name, oid }) =>
        `${mode.toString(8).padStart(6, '0')} ${mode === 0o40000 ? 'tree' : 'blob'} ${oid}\t${name}\0`,
    );
    expect(storeGit(dataDir, ['mktree', '-z'], { stdin: bytesOf(lines.join('')) }).stdout.trim()).toBe(tree);
    expect(blob).toBe(createHash('sha1').update('blob 1\0x').digest('hex'));
    expect(empty).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  });

  test.each([
    { name: '', why: 'empty' },
    { name: '.', why: 'the directory itself' },
    { name: '..', why: 'the parent' },
    { name: 'a/b', why: 'a path' },
    { name: 'a\0b', why: 'cut short' },
    { name: 'ā', why: 'no byte' },
  ])('never holds the name $name: $why', async ({ name }) => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const blob = writer.writeBlob(bytesOf('x'));
    expect(() => writer.writeTree([file(name, blob)])).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  });

  test('never holds a name twice, a gitlink, or an odd id', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const blob = writer.writeBlob(bytesOf('x'));
    const refused = expect.objectContaining({ code: 'INTERNAL' });
    expect(() => writer.writeTree([file('a', blob), folder('a', blob)])).toThrow(refused);
    expect(() => writer.writeTree([{ mode: 0o160000, name: 'a', oid: blob }])).toThrow(refused);
    expect(() => writer.writeTree([file('a', 'nonsense' as ObjectId)])).toThrow(refused);
  });
});

describe('what the store has', () => {
  const content = { a: 'one', b: 'two' };

  test.each([
    { where: 'our pack', after: [] },
    { where: 'a pack of git gc', after: [['gc', '--quiet', '--prune=now']] },
    { where: 'a pack with a multi-pack-index', after: [['repack', '-d', '--geometric=2', '--write-midx', '-q']] },
  ])('is not written again: $where', async ({ after }) => {
    const { store, dataDir, directory } = await preparedStore();
    const first = await publishSnapshot(store, 1, content);
    for (const command of after) storeGit(dataDir, command);
    const packs = packsOf(directory);
    const writer = store.newWriter();
    expect(writer.has(first)).toBe(true);
    writeSnapshot(writer, content, 'snapshot 1\n\nJackin-Seq: 1\n');
    expect(writer.bytesAdded).toBe(0);
    await writer.publish();
    expect(packsOf(directory)).toEqual(packs);
    expect(tmpOf(dataDir)).toEqual([]);
  });

  test('is not written again: loose objects; an empty loose file is no object', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const oid = storeGit(dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'loose' }).stdout.trim() as ObjectId;
    expect(store.newWriter().has(oid)).toBe(true);
    fs.chmodSync(join(directory, 'objects', oid.slice(0, 2), oid.slice(2)), 0o600);
    writeFileSync(join(directory, 'objects', oid.slice(0, 2), oid.slice(2)), '');
    expect(store.newWriter().has(oid)).toBe(false);
  });

  test('counts only where pack and index are both there and sound', async () => {
    const { store, directory } = await preparedStore();
    const commit = await publishSnapshot(store, 1, content);
    const pack = join(directory, 'objects/pack', packsOf(directory)[0]!);
    const index = pack.replace(/pack$/, 'idx');
    fs.renameSync(pack, `${pack}.away`);
    expect(store.newWriter().has(commit)).toBe(false);
    fs.renameSync(`${pack}.away`, pack);
    expect(store.newWriter().has(commit)).toBe(true);
    fs.chmodSync(index, 0o600);
    fs.truncateSync(index, 1100);
    expect(store.newWriter().has(commit)).toBe(false);
  });

  test('an object that this writer has is not written twice', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const oid = writer.writeBlob(bytesOf('same'));
    const bytes = writer.bytesAdded;
    expect(writer.writeBlob(bytesOf('same'))).toBe(oid);
    expect(writer.bytesAdded).toBe(bytes);
    expect(writer.has(oid)).toBe(true);
    await writer.publish();
    expect(storeGit(dataDir, ['count-objects', '-v']).stdout).toContain('in-pack: 1\n');
  });
});

describe('publishing', () => {
  test('leaves pack and index, both read-only, and nothing else', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const writer = store.newWriter();
    writeSnapshot(writer, { a: 'a' });
    expect(packsOf(directory)).toEqual([]);
    await writer.publish();
    const names = readdirSync(join(directory, 'objects/pack'));
    expect(names.map((name) => name.replace(/[0-9a-f]{40}/, '#')).sort()).toEqual(['pack-#.idx', 'pack-#.pack']);
    expect(names.map((name) => statSync(join(directory, 'objects/pack', name)).mode & 0o777)).toEqual([0o444, 0o444]);
    expect(tmpOf(dataDir)).toEqual([]);
  });

  test('can be abandoned without a trace, and ends the writer', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const writer = store.newWriter();
    writer.writeBlob(randomBytes(40 * 1024 * 1024));
    expect(tmpOf(dataDir)).toHaveLength(1);
    await writer.abandon();
    expect(tmpOf(dataDir)).toEqual([]);
    expect(packsOf(directory)).toEqual([]);
    expect(() => writer.writeBlob(bytesOf('x'))).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
  });

  test('that cannot rename the index takes the pack back', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const writer = store.newWriter();
    writeSnapshot(writer, { a: 'a' });
    const same = store.newWriter();
    writeSnapshot(same, { a: 'a' });
    await same.publish();
    const [pack] = packsOf(directory);
    fs.rmSync(join(directory, 'objects/pack', pack!));
    fs.rmSync(join(directory, 'objects/pack', pack!.replace('.pack', '.idx')));
    fs.mkdirSync(join(directory, 'objects/pack', pack!));
    await expect(writer.publish()).rejects.toMatchObject({ code: 'EISDIR' });
    expect(readdirSync(join(directory, 'objects/pack'))).toEqual([pack]);
    expect(tmpOf(dataDir)).toEqual([]);
  });

  test('holds with several packs streamed to disk', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const writer = store.newWriter();
    const blobs = Array.from({ length: 50 }, () => writer.writeBlob(randomBytes(2_000_000)));
    const tree = writer.writeTree(blobs.map((oid, index) => file(`f${index}`, oid)));
    const commit = writer.writeCommit(commitContent(tree, 'big\n'));
    await writer.publish();
    expect(writer.bytesAdded).toBe(statSync(join(directory, 'objects/pack', packsOf(directory)[0]!)).size);
    expect(writer.bytesAdded).toBeGreaterThan(100_000_000);
    await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);
    expect(fsckStrict(dataDir)).toEqual([]);
  });
});

test('a pack that another writer has made meanwhile is as durable as one of our own', async () => {
  const { store, directory } = await preparedStore();
  const writers = [store.newWriter(), store.newWriter()];
  for (const writer of writers) writer.writeBlob(bytesOf('the same'));
  await writers[0]!.publish();
  const calls = await fileCalls(join(directory, 'objects'), () => writers[1]!.publish());
  expect(calls).toEqual(['open pack', 'fsync pack']);
  expect(packsOf(directory)).toHaveLength(1);
});
