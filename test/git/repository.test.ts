import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import type { InstanceName, Seq } from '../../src/core/ids.js';
import { openStore } from '../../src/git/store.js';
import { makeFifo } from '../support/build-tree.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { type StoreArea, collectGarbage, preparedStore, publishSnapshot } from './fixture.js';

const umask = process.umask(0o022);
afterEach(() => process.umask(umask));

function everythingIn(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(directory, path));
    found.set(path, `${stat.isDirectory() ? 'd' : 'f'} ${(stat.mode & 0o7777).toString(8)}`);
  }
  return found;
}

const reopened = ({ dataDir }: StoreArea) =>
  openStore({ dataDir, env: process.env, forbiddenProgramDirectories: () => [] });

describe('a new store', () => {
  test.each([0o000, 0o022, 0o077, 0o777])('is a bare repository for its owner alone, with umask %o', async (mask) => {
    const dataDir = join(tempDir(), 'data');
    process.umask(mask);
    const { directory, store } = await preparedStore({ dataDir });
    process.umask(umask);
    expect(everythingIn(directory)).toEqual(
      new Map([
        ['HEAD', 'f 600'],
        ['config', 'f 600'],
        ['objects', 'd 700'],
        ['refs', 'd 700'],
        ['objects/info', 'd 700'],
        ['objects/pack', 'd 700'],
      ]),
    );
    expect(lstatSync(dataDir).mode & 0o777).toBe(0o700);
    expect(storeGit(dataDir, ['rev-parse', '--is-bare-repository']).stdout).toBe('true\n');
    expect(store.exists()).toBe(true);
  });

  test('stays private in what is written to it, with umask 0', async () => {
    const area = await preparedStore();
    process.umask(0);
    const commit = await publishSnapshot(area.store, 1, { a: 'a' });
    await area.store.changeRefs([{ name: `refs/replace/${commit}`, old: null, new: commit }]);
    await area.store.checkConnected([commit], []);
    await collectGarbage(area.store);
    const open = [...everythingIn(area.dataDir)].filter(
      ([path, mode]) => /[1-7][0-7]$|[1-7]$/.test(mode) && !/pack-.*\.(pack|idx)$/.test(path),
    );
    expect(open).toEqual([]);
  });

  test('does not exist before, and preparing it again changes nothing', async () => {
    const dataDir = join(tempDir(), 'data');
    expect(openStore({ dataDir, env: process.env, forbiddenProgramDirectories: () => [] }).exists()).toBe(false);
    const area = await preparedStore({ dataDir });
    const writtenAt = () => lstatSync(join(area.directory, 'HEAD'), { bigint: true }).ctimeNs;
    const before = writtenAt();
    await reopened(area).prepare();
    expect(writtenAt()).toBe(before);
  });

  test('may be made by several at once', async () => {
    const dataDir = join(tempDir(), 'data');
    await Promise.all(Array.from({ length: 5 }, () => preparedStore({ dataDir })));
    expect(readdirSync(join(dataDir, 'store.git')).sort()).toEqual(['HEAD', 'config', 'objects', 'refs']);
  });
});

describe('on opening', () => {
  test.each(['loose', 'packed'])(
    'a HEAD that is lost comes back, and so do the snapshots: refs are %s',
    async (kind) => {
      const area = await preparedStore();
      const commit = await publishSnapshot(area.store, 1, { a: 'a' });
      if (kind === 'packed') storeGit(area.dataDir, ['pack-refs', '--all', '--prune']);
      rmSync(join(area.directory, 'HEAD'));
      expect(reopened(area).exists()).toBe(true);
      expect((await reopened(area).snapshots(null)).map((ref) => ref.commit)).toEqual([commit]);
    },
  );

  test('empty directories that are missing come back', async () => {
    const area = await preparedStore();
    await publishSnapshot(area.store, 1, { a: 'a' });
    storeGit(area.dataDir, ['pack-refs', '--all']);
    rmSync(join(area.directory, 'refs'), { recursive: true });
    rmdirSync(join(area.directory, 'objects/info'));
    expect((await reopened(area).snapshots(null)).map(({ seq }) => seq)).toEqual([1]);
  });

  test.each([
    {
      what: 'that names programs',
      change: (config: string) => `${config}[core]\n\tfsmonitor = touch ran\n\thooksPath = /elsewhere\n`,
    },
    { what: 'that includes another', change: () => '[include]\n\tpath = /elsewhere\n' },
    { what: 'that is gone', change: () => null },
    {
      what: 'of another format',
      change: () => '[core]\n\trepositoryformatversion = 9\n[extensions]\n\tobjectformat = sha256\n',
    },
  ])('a configuration $what is put right', async ({ change }) => {
    const area = await preparedStore();
    const commit = await publishSnapshot(area.store, 1, { a: 'a' });
    const path = join(area.directory, 'config');
    const config = readFileSync(path, 'utf8');
    const changed = change(config);
    if (changed === null) rmSync(path);
    else writeFileSync(path, changed);
    expect((await reopened(area).snapshots(null)).map((snapshot) => snapshot.commit)).toEqual([commit]);
    expect(readFileSync(path, 'utf8')).toBe(config);
  });

  test('a HEAD or configuration that is a link is replaced, not followed', async () => {
    const area = await preparedStore();
    const target = join(area.dataDir, 'target');
    for (const name of ['HEAD', 'config']) {
      const content = readFileSync(join(area.directory, name), 'utf8');
      writeFileSync(target, content);
      rmSync(join(area.directory, name));
      symlinkSync(target, join(area.directory, name));
      await reopened(area).prepare();
      expect(lstatSync(join(area.directory, name)).isFile()).toBe(true);
      expect(readFileSync(target, 'utf8')).toBe(content);
    }
  });

  test.each(['', 'objects', 'objects/pack', 'objects/info', 'refs', 'refs/jackin', 'objects/ab'])(
    'store.git/%s being a link is refused',
    async (name) => {
      const area = await preparedStore();
      await publishSnapshot(area.store, 1, { a: 'a' });
      mkdirSync(join(area.directory, 'objects/ab'), { mode: 0o700 });
      const path = join(area.directory, name);
      renameSync(path, join(area.dataDir, 'moved'));
      symlinkSync(join(area.dataDir, 'moved'), path);
      await expect(reopened(area).prepare()).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
      await expect(reopened(area).snapshots(null)).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    },
  );

  test.each([
    'objects/info/alternates',
    'objects/info/http-alternates',
    'shallow',
    'info/grafts',
    'info/attributes',
    'commondir',
  ])('store.git/%s is refused', async (name) => {
    const area = await preparedStore();
    mkdirSync(dirname(join(area.directory, name)), { recursive: true });
    writeFileSync(join(area.directory, name), '/elsewhere\n');
    await expect(reopened(area).prepare()).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
  });

  test('a data directory without write permission is no store that is made half', async () => {
    const dataDir = join(tempDir(), 'file');
    writeFileSync(dataDir, '');
    const store = openStore({ dataDir, env: process.env, forbiddenProgramDirectories: () => [] });
    await expect(store.prepare()).rejects.toMatchObject({ code: 'ENOTDIR' });
    chmodSync(dataDir, 0o600);
    expect(existsSync(join(dataDir, 'store.git'))).toBe(false);
  });
});

test('packed refs that are a pipe are refused, and nobody waits for them', async () => {
  const { dataDir, directory } = await preparedStore();
  makeFifo(join(directory, 'packed-refs'));
  const opened = openStore({ dataDir, env: process.env, forbiddenProgramDirectories: () => [] });
  await expect(opened.snapshots(null)).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    data: { problem: 'packed-refs: it is no file' },
  });
});

describe('what git would wait for, or follow without end, is refused below refs', () => {
  const put: Record<string, (path: string) => void> = {
    'a pipe': makeFifo,
    'a link to a pipe': (path) => {
      const pipe = join(tempDir(), 'pipe');
      makeFifo(pipe);
      symlinkSync(pipe, path);
    },
    'a link to a device': (path) => {
      symlinkSync('/dev/zero', path);
    },
    'a link that leads back': (path) => {
      symlinkSync('..', path);
    },
  };
  const places = ['refs/jackin', 'refs/jackin/t', 'refs/jackin/t/1', 'refs/jackin/t/9', 'refs/jackin-pin', 'refs/x'];

  test.each(Object.keys(put).flatMap((what) => places.map((name) => [what, name] as const)))(
    '%s as %s',
    async (what, name) => {
      const area = await preparedStore();
      await publishSnapshot(area.store, 1, { a: 'a' });
      const path = join(area.directory, name);
      rmSync(path, { recursive: true, force: true });
      put[what]?.(path);
      const refused = {
        code: 'STORE_DAMAGED',
        data: { problem: expect.stringContaining(`${name}: it is `) as string },
      };
      await expect(reopened(area).snapshots(null)).rejects.toMatchObject(refused);
      // One that is read as it lies needs no look at those beside it.
      if (name !== 'refs/jackin/t/9')
        await expect(reopened(area).snapshot('t' as InstanceName, 1 as Seq)).rejects.toMatchObject(refused);
    },
  );

  test.each(['refs/jackin/t/9', 'refs/jackin-pin/t/1', 'refs/replace/x', 'refs/x/y/z'])(
    'a pipe as %s, before git reads all refs',
    async (name) => {
      const area = await preparedStore();
      const commit = await publishSnapshot(area.store, 1, { a: 'a' });
      mkdirSync(dirname(join(area.directory, name)), { recursive: true });
      makeFifo(join(area.directory, name));
      const refused = { code: 'STORE_DAMAGED', data: { problem: `${name}: it is neither file nor directory` } };
      const store = reopened(area);
      await expect(store.refs('refs/')).rejects.toMatchObject(refused);
      await expect(store.unreadableRefs('refs/')).rejects.toMatchObject(refused);
      await expect(store.fsck(false)).rejects.toMatchObject(refused);
      await expect(store.packRefs()).rejects.toMatchObject(refused);
      await expect(
        store.log([commit], { options: [], paths: [], output: { kind: 'collect', onData: () => undefined } }),
      ).rejects.toMatchObject(refused);
    },
  );
});
