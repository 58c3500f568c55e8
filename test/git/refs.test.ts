import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

import { type InstanceName, type ObjectId, zeroObjectId } from '../../src/core/ids.js';
import { changeRefs } from '../../src/git/refs.js';
import { Programs } from '../../src/git/programs.js';
import { GitRunner, askVersion } from '../../src/git/run-git.js';
import { refsOf, storeGit } from '../support/store-git.js';
import { explode, loosePath, preparedStore, publishSnapshot, writeSnapshot } from './fixture.js';

const instance = 't' as InstanceName;

function runnerOf(dataDir: string): GitRunner {
  const env = process.env;
  const programs = new Programs({ dataDir, env, forbiddenDirectories: () => [] });
  const settings = {
    dataDir,
    env,
    storeDirectory: join(dataDir, 'store.git'),
    searchPath: () => programs.searchPath,
  };
  return new GitRunner(settings, () => programs.git((path) => askVersion(path, settings)), undefined);
}

describe('listing', () => {
  test('gives the refs of one instance or of all, by number, with tree and message', async () => {
    const { store, dataDir } = await preparedStore();
    for (const seq of [2, 10, 1]) await publishSnapshot(store, seq, { a: `${seq}` });
    const other = await publishSnapshot(store, 3, { a: 'other' }, 'u');
    storeGit(dataDir, ['update-ref', 'refs/jackin/t/x', other]);
    storeGit(dataDir, ['update-ref', 'refs/jackin/t/07', other]);
    storeGit(dataDir, ['update-ref', 'refs/elsewhere/1', other]);

    const refs = await store.snapshots(instance);
    expect(refs.map(({ seq }) => seq)).toEqual([1, 2, 10]);
    expect(refs[2]).toEqual({
      instance: 't',
      seq: 10,
      ref: 'refs/jackin/t/10',
      commit: storeGit(dataDir, ['rev-parse', 'refs/jackin/t/10']).stdout.trim(),
      tree: storeGit(dataDir, ['rev-parse', 'refs/jackin/t/10^{tree}']).stdout.trim(),
      message: 'snapshot 10\n\nJackin-Seq: 10\n',
    });
    expect((await store.snapshots(null)).map(({ ref }) => ref)).toEqual([
      'refs/jackin/t/1',
      'refs/jackin/t/2',
      'refs/jackin/t/10',
      'refs/jackin/u/3',
    ]);
    expect(await store.refs('refs/elsewhere/')).toEqual([{ name: 'refs/elsewhere/1', oid: other }]);
  });

  test('keeps messages to the byte: text in UTF-8, blank lines at the end, none at all', async () => {
    const { store, dataDir } = await preparedStore();
    const messages = ['grüße 日本 \u{1f600}\n\n\n', 'no line feed', '', '\n leading\n'];
    const writer = store.newWriter();
    const commits = messages.map((message) => writeSnapshot(writer, { a: 'a' }, message));
    await writer.publish();
    await store.changeRefs(
      commits.map((commit, index) => ({ name: `refs/jackin/t/${index + 1}`, old: null, new: commit })),
    );
    expect((await store.snapshots(instance)).map(({ message }) => message)).toEqual(messages);
    storeGit(dataDir, ['pack-refs', '--all']);
    expect((await store.snapshots(instance)).map(({ message }) => message)).toEqual(messages);
  });

  test('shows the snapshots beside one whose commit is gone or damaged', async () => {
    const { store, dataDir, directory } = await preparedStore();
    for (const seq of [1, 2, 3]) await publishSnapshot(store, seq, { a: `${seq}` });
    explode(dataDir, directory);
    const [gone, damaged] = ['refs/jackin/t/1', 'refs/jackin/t/2'].map((ref) =>
      storeGit(dataDir, ['rev-parse', ref]).stdout.trim(),
    );
    rmSync(loosePath(directory, gone!));
    rmSync(loosePath(directory, damaged!));
    writeFileSync(loosePath(directory, damaged!), 'garbage');

    const refs = await store.snapshots(instance);
    expect(refs.map(({ commit, tree }) => [commit, tree === zeroObjectId])).toEqual([
      [gone, true],
      [damaged, true],
      [refs[2]!.commit, false],
    ]);
    expect(refs[2]!.message).toBe('snapshot 3\n\nJackin-Seq: 3\n');
    expect(await store.brokenSnapshots(refs.map(({ commit }) => commit))).toEqual(new Set([gone, damaged]));
  });

  test('is empty where no store is, and makes none', async () => {
    const { store, directory } = await preparedStore();
    rmSync(directory, { recursive: true });
    expect(store.exists()).toBe(false);
    expect(await store.snapshots(null)).toEqual([]);
    expect(await store.refs('refs/')).toEqual([]);
    expect(existsSync(directory)).toBe(false);
  });

  test('takes one process and little time with 2,000 refs', async () => {
    const { store } = await preparedStore();
    const writer = store.newWriter();
    const commits = Array.from({ length: 2000 }, (_, index) =>
      writeSnapshot(writer, { a: 'a' }, `snapshot ${index + 1}\n`),
    );
    await writer.publish();
    await store.changeRefs(
      commits.map((commit, index) => ({ name: `refs/jackin/t/${index + 1}`, old: null, new: commit })),
    );
    const start = performance.now();
    const refs = await store.snapshots(instance);
    expect(performance.now() - start).toBeLessThan(2000);
    expect(refs.map(({ commit }) => commit)).toEqual(commits);
  });
});

describe('a change', () => {
  async function withTwo() {
    const area = await preparedStore();
    const writer = area.store.newWriter();
    const [one, two] = ['1', '2'].map((content) => writeSnapshot(writer, { a: content }));
    await writer.publish();
    await area.store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: one! }]);
    return { ...area, one: one!, two: two! };
  }

  test('creates, updates and deletes in one step', async () => {
    const { store, directory, one, two } = await withTwo();
    await store.changeRefs([
      { name: 'refs/jackin/t/2', old: null, new: two },
      { name: `refs/replace/${two}`, old: null, new: one },
      { name: 'refs/jackin/t/1', old: one, new: null },
    ]);
    expect(refsOf(directory)).toEqual(
      new Map([
        ['refs/jackin/t/2', two],
        [`refs/replace/${two}`, one],
      ]),
    );
    await store.changeRefs([{ name: `refs/replace/${two}`, old: one, new: two }]);
    expect(refsOf(directory).get(`refs/replace/${two}`)).toBe(two);
    await store.changeRefs([]);
  });

  test.each([
    { what: 'a ref that exists', change: { name: 'refs/jackin/t/1', old: null, next: 'two' }, ref: 'refs/jackin/t/1' },
    { what: 'another old value', change: { name: 'refs/jackin/t/1', old: 'two', next: 'two' }, ref: 'refs/jackin/t/1' },
    {
      what: 'an old value of nothing',
      change: { name: 'refs/jackin/t/9', old: 'one', next: 'two' },
      ref: 'refs/jackin/t/9',
    },
    {
      what: 'a deletion of another value',
      change: { name: 'refs/jackin/t/1', old: 'two', next: null },
      ref: 'refs/jackin/t/1',
    },
    {
      what: 'a ref below a ref',
      change: { name: 'refs/jackin/t/1/x', old: null, next: 'two' },
      ref: 'refs/jackin/t/1',
    },
    { what: 'a ref above a ref', change: { name: 'refs/jackin/t', old: null, next: 'two' }, ref: 'refs/jackin/t/1' },
  ])('changes nothing when one part does not hold: $what', async ({ change, ref }) => {
    const { store, directory, one, two } = await withTwo();
    const ids: Record<string, ObjectId> = { one, two };
    const before = refsOf(directory);
    const id = (name: string | null): ObjectId | null => (name === null ? null : ids[name]!);
    const failing = store.changeRefs([
      { name: 'refs/jackin/t/5', old: null, new: two },
      { name: change.name, old: id(change.old), new: id(change.next) },
      { name: `refs/replace/${two}`, old: null, new: one },
    ]);
    await expect(failing).rejects.toMatchObject({ code: 'REF_EXISTS', data: { ref } });
    expect(refsOf(directory)).toEqual(before);
  });

  test('is never made to an object that is not there', async () => {
    const { store, directory } = await withTwo();
    const before = refsOf(directory);
    const missing = '1'.repeat(40) as ObjectId;
    await expect(store.changeRefs([{ name: 'refs/jackin/t/2', old: null, new: missing }])).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
    expect(refsOf(directory)).toEqual(before);
  });

  test('says BUSY where a lock file is left, until a sweep', async () => {
    const { store, directory, two } = await withTwo();
    const lock = join(directory, 'refs/jackin/t/2.lock');
    writeFileSync(lock, '');
    const change = { name: 'refs/jackin/t/2', old: null, new: two };
    await expect(store.changeRefs([change])).rejects.toMatchObject({ code: 'BUSY', data: { lock: 'refs/jackin/t/2' } });
    await store.sweep();
    await store.changeRefs([change]);
    expect(refsOf(directory).get('refs/jackin/t/2')).toBe(two);
  });

  test('does not follow a symbolic ref', async () => {
    const { store, dataDir, directory, one, two } = await withTwo();
    storeGit(dataDir, ['symbolic-ref', 'refs/jackin/t/2', 'refs/jackin/t/1']);
    await store.changeRefs([{ name: 'refs/jackin/t/2', old: one, new: two }]);
    expect(refsOf(directory).get('refs/jackin/t/1')).toBe(one);
    expect(refsOf(directory).get('refs/jackin/t/2')).toBe(two);
  });

  test.each(['refs/jackin/t/1\0delete', 'refs/jackin/a b', '-x', 'HEAD', 'refs/jackin/\xff'])(
    'is refused for the name %j',
    async (name) => {
      const { store, one } = await withTwo();
      await expect(store.changeRefs([{ name, old: null, new: one }])).rejects.toMatchObject({ code: 'INTERNAL' });
    },
  );

  test('works on packed refs', async () => {
    const { store, dataDir, directory, one, two } = await withTwo();
    storeGit(dataDir, ['pack-refs', '--all']);
    mkdirSync(join(directory, 'refs/jackin'), { recursive: true });
    await store.changeRefs([
      { name: 'refs/jackin/t/1', old: one, new: null },
      { name: 'refs/jackin/t/2', old: null, new: two },
    ]);
    expect(refsOf(directory)).toEqual(new Map([['refs/jackin/t/2', two]]));
  });
});

describe('a change that cannot be made durable', () => {
  async function withOne() {
    const area = await preparedStore();
    const writer = area.store.newWriter();
    const [one, two] = ['1', '2'].map((content) => writeSnapshot(writer, { a: content }));
    await writer.publish();
    await area.store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: one! }]);
    const git = runnerOf(area.dataDir);
    return { ...area, git, one: one!, two: two! };
  }

  const failing = (): never => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  };

  test('is synced in each directory that names it, from the deepest up; a removal beside packed refs, too', async () => {
    const { git, directory, one, two } = await withOne();
    const synced: string[] = [];
    const sync = (path: string): void => void synced.push(relative(directory, path));
    await changeRefs(git, [{ name: 'refs/jackin/t/2', old: null, new: two }], { sync });
    expect(synced.splice(0)).toEqual(['refs/jackin/t', 'refs/jackin', 'refs']);
    await changeRefs(git, [{ name: 'refs/jackin/t/1', old: one, new: null }], { sync });
    expect(synced).toEqual(['refs/jackin/t', 'refs/jackin', 'refs', '']);
  });

  test('is taken back: what it made, moved and removed', async () => {
    const { git, directory, one, two } = await withOne();
    const before = refsOf(directory);
    const changes = [
      { name: 'refs/jackin/t/2', old: null, new: two },
      { name: `refs/replace/${two}`, old: null, new: one },
    ];
    await expect(changeRefs(git, changes, { sync: failing })).rejects.toThrow('EIO');
    expect(refsOf(directory)).toEqual(before);
    await expect(changeRefs(git, [{ name: 'refs/jackin/t/1', old: one, new: two }], { sync: failing })).rejects.toThrow(
      'EIO',
    );
    expect(refsOf(directory)).toEqual(before);
    await expect(
      changeRefs(git, [{ name: 'refs/jackin/t/1', old: one, new: null }], { sync: failing }),
    ).rejects.toThrow('EIO');
    expect(refsOf(directory)).toEqual(before);
    await changeRefs(git, changes);
    expect(refsOf(directory).size).toBe(3);
  });

  test('and not be taken back either is told as it is', async () => {
    const { git, directory, two } = await withOne();
    const change = { name: 'refs/jackin/t/2', old: null, new: two };
    const lockedToo = (): never => {
      writeFileSync(join(directory, 'refs/jackin/t/2.lock'), '');
      return failing();
    };
    await expect(changeRefs(git, [change], { sync: lockedToo })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('refs/jackin/t/2 changed') as unknown,
    });
    expect(refsOf(directory).get('refs/jackin/t/2')).toBe(two);
  });
});

test('names below a prefix that git passes over are found, lock files and removed ones are not', async () => {
  const { store, directory } = await preparedStore();
  expect(await store.unreadableRefs('refs/')).toEqual([]);
  for (const seq of [1, 2, 3]) await publishSnapshot(store, seq, { a: `${seq}` });
  writeFileSync(join(directory, 'refs/jackin/t/2'), '');
  writeFileSync(join(directory, 'refs/jackin/t/9'), 'garbage');
  writeFileSync(join(directory, 'refs/jackin/t/4.lock'), '');
  mkdirSync(join(directory, 'refs/jackin-pin/t'), { recursive: true });
  writeFileSync(join(directory, 'refs/jackin-pin/t/1'), 'ref: refs/jackin/t/7\n');
  expect(await store.unreadableRefs('refs/')).toEqual(['refs/jackin-pin/t/1', 'refs/jackin/t/2', 'refs/jackin/t/9']);
  expect(await store.unreadableRefs('refs/jackin-pin/')).toEqual(['refs/jackin-pin/t/1']);
  expect((await store.snapshots(null)).map(({ seq, commit }) => [seq, commit === zeroObjectId])).toEqual([
    [1, false],
    [2, true],
    [3, false],
    [9, true],
  ]);
});
