import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import type { Store } from '../../src/core/ports.js';
import { storeGit } from '../support/store-git.js';
import { bytesOf, collect, explode, file, folder, loosePath, preparedStore, publishSnapshot } from './fixture.js';

const damaged = { code: 'STORE_DAMAGED' };

interface RawEntry {
  readonly mode: string;
  readonly name: string;
  readonly oid: string;
}

/** A tree object with whatever in it. */
function rawTree(dataDir: string, entries: readonly RawEntry[]): ObjectId {
  const stdin = Buffer.concat(
    entries.flatMap(({ mode, name, oid }) => [bytesOf(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
  return storeGit(dataDir, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
    stdin,
  }).stdout.trim() as ObjectId;
}

function rawBlob(dataDir: string): string {
  return storeGit(dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'x' }).stdout.trim();
}

const list = (store: Store, tree: string) => collect(store.listTree(tree));

describe('a listing', () => {
  test('has directories before their content, sizes, and names of any bytes', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const blob = writer.writeBlob(bytesOf('12345'));
    const name = Array.from({ length: 255 }, (_, byte) =>
      byte === 0x2f - 1 ? 'x' : String.fromCharCode(byte + 1),
    ).join('');
    const inner = writer.writeTree([file(name, blob), { mode: 0o120000, name: 'link', oid: blob }]);
    const empty = writer.writeTree([]);
    const root = writer.writeTree([
      folder('a', inner),
      file('a.x', blob),
      folder('empty', empty),
      { mode: 0o100755, name: 'z', oid: blob },
    ]);
    await writer.publish();
    expect(await list(store, root)).toEqual([
      { mode: 0o100644, type: 'blob', oid: blob, size: 5, path: 'a.x' },
      { mode: 0o40000, type: 'tree', oid: inner, size: null, path: 'a' },
      { mode: 0o100644, type: 'blob', oid: blob, size: 5, path: `a/${name}` },
      { mode: 0o120000, type: 'blob', oid: blob, size: 5, path: 'a/link' },
      { mode: 0o40000, type: 'tree', oid: empty, size: null, path: 'empty' },
      { mode: 0o100755, type: 'blob', oid: blob, size: 5, path: 'z' },
    ]);
  });

  test('takes any tree-ish, also of an empty tree', async () => {
    const { store } = await preparedStore();
    const commit = await publishSnapshot(store, 1, { a: 'a' });
    const paths = async (tree: string) => (await list(store, tree)).map(({ path }) => path);
    expect(await paths(commit)).toEqual(['meta', 'meta/manifest', 'mounts', 'mounts/m', 'mounts/m/a']);
    expect(await paths('refs/jackin/t/1:mounts/m')).toEqual(['a']);
    const writer = store.newWriter();
    const empty = writer.writeTree([]);
    await writer.publish();
    expect(await paths(empty)).toEqual([]);
  });

  test('in part has the rest in the same order', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const blob = writer.writeBlob(bytesOf('12345'));
    const leaf = writer.writeTree([file('x', blob), { mode: 0o120000, name: 'y', oid: blob }]);
    const inner = writer.writeTree([folder('left', leaf), folder('out', leaf), file('z', blob)]);
    const root = writer.writeTree([file('a.x', blob), folder('a', inner), folder('b', leaf), folder('out', leaf)]);
    await writer.publish();
    const asked: string[] = [];
    const listed = await collect(
      store.listTree(root, (path, tree) => {
        asked.push(`${path} ${tree}`);
        return path.endsWith('out');
      }),
    );
    const isOut = ({ path }: { path: string }): boolean => /(^|\/)out(\/|$)/.test(path);
    expect(listed).toEqual((await list(store, root)).filter((entry) => !isOut(entry)));
    expect(asked.sort()).toEqual([`a ${inner}`, `a/left ${leaf}`, `a/out ${leaf}`, `b ${leaf}`, `out ${leaf}`].sort());
  });

  test('may be left early', async () => {
    const { store } = await preparedStore();
    const commit = await publishSnapshot(
      store,
      1,
      Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`f${n}`, 'x'])),
    );
    for await (const entry of store.listTree(commit)) {
      expect(entry.path).toBe('meta');
      break;
    }
  });

  test.each(['-r', '--all', ''])('is never of an option: %j', async (tree) => {
    const { store } = await preparedStore();
    await expect(list(store, tree)).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('a listing is refused', () => {
  const hostile: { what: string; entries: (blob: string, tree: string) => RawEntry[] }[] = [
    { what: '..', entries: (blob) => [{ mode: '100644', name: '..', oid: blob }] },
    { what: '. as a directory', entries: (_, tree) => [{ mode: '40000', name: '.', oid: tree }] },
    { what: '.. as a directory', entries: (_, tree) => [{ mode: '40000', name: '..', oid: tree }] },
    { what: 'an absolute path', entries: (blob) => [{ mode: '100644', name: '/etc/passwd', oid: blob }] },
    { what: 'a path in a name', entries: (blob) => [{ mode: '100644', name: 'a/b', oid: blob }] },
    { what: 'a way up in a name', entries: (blob) => [{ mode: '100644', name: '../x', oid: blob }] },
    {
      what: 'a path through a link',
      entries: (blob) => [
        { mode: '120000', name: 'l', oid: blob },
        { mode: '100644', name: 'l/x', oid: blob },
      ],
    },
    {
      what: 'a path through a link of the same name as a directory',
      entries: (blob, tree) => [
        { mode: '120000', name: 'd', oid: blob },
        { mode: '40000', name: 'd', oid: tree },
      ],
    },
    {
      what: 'a name that comes twice',
      entries: (blob) => [
        { mode: '100644', name: 'a', oid: blob },
        { mode: '100644', name: 'a', oid: blob },
      ],
    },
    {
      what: 'a directory that comes twice',
      entries: (_, tree) => [
        { mode: '40000', name: 'd', oid: tree },
        { mode: '40000', name: 'd', oid: tree },
      ],
    },
    {
      what: 'a name within a directory before',
      entries: (blob, tree) => [
        { mode: '40000', name: 'd', oid: tree },
        { mode: '100644', name: 'd/in', oid: blob },
      ],
    },
    { what: 'a submodule', entries: (blob) => [{ mode: '160000', name: 's', oid: blob }] },
    { what: 'a blob said to be a directory', entries: (blob) => [{ mode: '40000', name: 'd', oid: blob }] },
    { what: 'a file that is not there', entries: () => [{ mode: '100644', name: 'f', oid: 'e'.repeat(40) }] },
    { what: 'a directory that is not there', entries: () => [{ mode: '40000', name: 'd', oid: 'e'.repeat(40) }] },
  ];

  test.each(hostile)('with $what', async ({ entries }) => {
    const { store, dataDir } = await preparedStore();
    const blob = rawBlob(dataDir);
    const inner = rawTree(dataDir, [{ mode: '100644', name: 'in', oid: blob }]);
    const tree = rawTree(dataDir, entries(blob, inner));
    await expect(list(store, tree)).rejects.toMatchObject(damaged);
    const outer = rawTree(dataDir, [{ mode: '40000', name: 'outer', oid: tree }]);
    await expect(list(store, outer)).rejects.toMatchObject(damaged);
    for (const hostileTree of [tree, outer])
      await expect(collect(store.listTree(hostileTree, () => false))).rejects.toMatchObject(damaged);
  });

  test('later, with a tree said to be a file: when it is read', async () => {
    const { store, dataDir } = await preparedStore();
    const inner = rawTree(dataDir, [{ mode: '100644', name: 'in', oid: rawBlob(dataDir) }]);
    const [entry] = await list(store, rawTree(dataDir, [{ mode: '100644', name: 'f', oid: inner }]));
    const reader = store.reader();
    await expect(reader.read(entry!.oid, 'blob')).rejects.toMatchObject(damaged);
    await reader.close();
  });

  test('with a tree that is gone', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const commit = await publishSnapshot(store, 1, { a: 'a' });
    const tree = storeGit(dataDir, ['rev-parse', `${commit}:mounts`]).stdout.trim();
    explode(dataDir, directory);
    rmSync(loosePath(directory, tree));
    await expect(list(store, commit)).rejects.toMatchObject(damaged);
    await expect(list(store, tree)).rejects.toMatchObject(damaged);
    await expect(list(store, 'refs/jackin/t/7')).rejects.toMatchObject(damaged);
  });
});
