import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startProcess } from '../support/run-process.js';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, planned, remember, rememberUntouched } from './scene.js';

/** Modes of a file or folder that its owner can still read. */
const modes = [0o644, 0o755, 0o711, 0o4755, 0o2755, 0o1777, 0o6711, 0o400, 0o777, 0o600, 0o7777, 0o440];

describe('permission bits', () => {
  test('come back exactly: of files, with the files as they are and written anew', async () => {
    const scene = new Scene();
    const name = (mode: number): string => `f${mode.toString(8)}`;
    for (const mode of modes) {
      writeFileSync(scene.at(name(mode)), name(mode));
      chmodSync(scene.at(name(mode)), mode);
    }
    const wasThen = remember(scene.mount);
    await scene.save();
    for (const mode of modes) chmodSync(scene.at(name(mode)), 0o644);
    const kept = walkTree(scene.mount).map(({ path, ino, mtimeNs }) => [path, ino, mtimeNs]);
    await scene.restore();
    expectSame(wasThen);
    expect(walkTree(scene.mount).map(({ path, ino, mtimeNs }) => [path, ino, mtimeNs])).toEqual(kept);
    scene.remove(...modes.slice(0, 6).map(name));
    for (const mode of modes.slice(6)) {
      chmodSync(scene.at(name(mode)), 0o600);
      writeFileSync(scene.at(name(mode)), 'other');
    }
    await scene.restore();
    expectSame(wasThen, 'the folder with files written anew');
  });

  test('come back exactly: of folders, the mount itself among them', async () => {
    const scene = new Scene();
    const name = (mode: number): string => `d${mode.toString(8)}`;
    for (const mode of modes) {
      scene.write({ [`${name(mode)}/f`]: 'f' });
      mkdirSync(scene.at(`${name(mode)}-empty`));
      chmodSync(scene.at(name(mode)), mode | 0o500);
      chmodSync(scene.at(`${name(mode)}-empty`), mode | 0o500);
    }
    chmodSync(scene.mount, 0o2751);
    const wasThen = remember(scene.mount);
    await scene.save();
    for (const mode of modes) {
      chmodSync(scene.at(name(mode)), 0o755);
      scene.remove(`${name(mode)}-empty`);
    }
    scene.remove(name(0o4755), name(0o1777));
    chmodSync(scene.mount, 0o700);
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
  });

  test.each(['000', '027', '077', '777'])('do not depend on the umask (%s)', async (umask) => {
    const scene = new Scene();
    scene.write({ key: 'k', 'run.sh': 's', 'priv/p': 'p', 'd/e/f': 'f' });
    for (const [path, mode] of [
      ['key', 0o600],
      ['run.sh', 0o750],
      ['priv/p', 0o640],
      ['priv', 0o700],
    ] as const)
      chmodSync(scene.at(path), mode);
    const wasThen = remember(scene.mount);
    await scene.save();
    scene.remove('priv', 'd', 'run.sh');
    scene.write({ key: 'changed' });
    chmodSync(scene.at('key'), 0o644);
    const copy = join(scene.area, 'copy');
    for (const args of [`restore 1 --yes`, `export 1 ${copy}`]) {
      const command = `umask ${umask}; exec "${process.execPath}" "${snapBin}" --data-dir "${scene.dataDir}" -i t ${args}`;
      const run = await startProcess('/bin/sh', ['-c', command], {
        cwd: scene.mount,
        env: snapEnvironment(scene.home),
        timeout: 60_000,
      }).done;
      expect(run.code, run.stderr).toBe(0);
    }
    expectSame(wasThen);
    expect(lstatSync(join(copy, 'priv/p')).mode & 0o777).toBe(0o640);
  });

  test.skipIf(!isRoot)('with set-id come back beside another owner', async () => {
    const scene = new Scene();
    for (const [path, mode] of [
      ['a', 0o4755],
      ['b', 0o2755],
      ['c', 0o6711],
      ['d', 0o4711],
    ] as const) {
      writeFileSync(scene.at(path), path);
      chownSync(scene.at(path), 1000, 1001);
      chmodSync(scene.at(path), mode);
    }
    mkdirSync(scene.at('dir'));
    chownSync(scene.at('dir'), 1000, 1001);
    chmodSync(scene.at('dir'), 0o3770);
    symlinkSync('a', scene.at('link'));
    spawnSync('chown', ['-h', '1002:1003', scene.at('link')]);
    const wasThen = remember(scene.mount);
    await scene.save();
    chownSync(scene.at('a'), 0, 0);
    writeFileSync(scene.at('b'), 'other');
    scene.remove('c', 'dir', 'link');
    chownSync(scene.at('d'), 1005, 1005);
    symlinkSync('a', scene.at('link'));
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
  });

  test('of one name do not reach another name of the same file', async () => {
    const scene = new Scene();
    scene.write({ a: 'same' });
    chmodSync(scene.at('a'), 0o640);
    await scene.save();
    linkSync(scene.at('a'), join(scene.outside, 'theirs'));
    chmodSync(scene.at('a'), 0o666);
    const outside = rememberUntouched(scene.outside);
    await scene.restore();
    expect(lstatSync(scene.at('a')).mode & 0o777).toBe(0o640);
    expect(outside.differences().filter((line) => !line.includes('nlink'))).toEqual([]);
    expect(lstatSync(join(scene.outside, 'theirs')).mode & 0o777).toBe(0o666);
  });
});

const straces = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

test.skipIf(!straces)(
  'no file of a restore, a copy or an export is ever open to others before it is done',
  async () => {
    const scene = new Scene();
    scene.write({ key: 'k', 'd/f': 'f', 'd/g': 'g' });
    await scene.save();
    scene.remove('key', 'd');
    scene.write({ 'd/g': 'other' });
    const copy = join(scene.area, 'copy');
    for (const args of [`restore 1 --yes`, `restore 1 --yes --to ${copy}`, `export 1 ${copy}.tar`]) {
      const trace = join(scene.area, 'trace');
      const traced = `umask 000; exec strace -f -y -qq -s 300 -e trace=open,openat,creat,mkdir,mkdirat -o ${trace}`;
      const command = `${traced} "${process.execPath}" "${snapBin}" --data-dir "${scene.dataDir}" -i t ${args}`;
      const run = await startProcess('/bin/sh', ['-c', command], {
        cwd: scene.mount,
        env: snapEnvironment(scene.home),
        timeout: 120_000,
      }).done;
      expect(run.code, run.stderr).toBe(0);
      const made = readFileSync(trace, 'latin1')
        .split('\n')
        .filter((line) => /O_CREAT|mkdir(at)?\(/.test(line) && !/EEXIST|ENOENT/.test(line))
        .filter((line) => !line.includes('O_TMPFILE') && !line.includes('/dev/null'));
      expect(made.length).toBeGreaterThan(0);
      expect(made.filter((line) => !/, 0[0-7]?00\)/.test(line) && ours(line, scene))).toEqual([]);
    }
  },
);

/** What git makes in a data directory that nobody else may enter is its own business. */
function ours(line: string, scene: Scene): boolean {
  return !line.includes(scene.dataDir);
}

describe('times', () => {
  test('of what is not rewritten stay, and what is rewritten has that of now', async () => {
    const scene = new Scene();
    scene.write({ a: 'a', b: 'b', 'd/c': 'c', 'd/x': 'x', 'e/f': 'f' });
    symlinkSync('a', scene.at('l'));
    const old = new Date('2001-01-01T00:00:00Z');
    for (const path of ['a', 'b', 'd/c', 'd/x', 'd', 'e/f', 'e']) utimesSync(scene.at(path), old, old);
    lutimesSync(scene.at('l'), old, old);
    await scene.save();
    scene.write({ b: 'bb' });
    chmodSync(scene.at('d/x'), 0o600);
    const look = () =>
      walkTree(scene.mount)
        .filter(({ path }) => path !== 'b')
        .map(({ path, ino, mtimeNs, ctimeNs }) => [path, ino, mtimeNs, path === 'd/x' ? 0n : ctimeNs]);
    const kept = look();
    const start = Math.floor(Date.now() / 1000) * 1000;
    const restored = await scene.restore();
    expect(planned(restored)).toEqual(['overwrite b', 'chmod d/x']);
    expect(look()).toEqual(kept);
    expect(lstatSync(scene.at('b')).mtimeMs).toBeGreaterThanOrEqual(start);
    const untouched = rememberUntouched(scene.mount);
    expect(planned(await scene.restore())).toEqual([]);
    expect(planned(await scene.json(['restore', '1', '--dry-run']))).toEqual([]);
    expectSame(untouched);
  });

  test('of access are not moved by a save', async () => {
    const scene = new Scene();
    scene.write({ a: 'a', 'd/f': 'f' });
    const old = new Date('2001-01-01T00:00:00Z');
    for (const path of ['a', 'd/f']) utimesSync(scene.at(path), old, old);
    await scene.save();
    await scene.save(['--full']);
    for (const path of ['a', 'd/f']) expect(lstatSync(scene.at(path)).atime).toEqual(old);
  });

  test('that were set back do not hide an edit of the same size', async () => {
    const scene = new Scene();
    const then = new Date('2020-01-01T00:00:00Z');
    const edit = (text: string): void => {
      writeFileSync(scene.at('f'), text);
      utimesSync(scene.at('f'), then, then);
    };
    scene.write({ seed: 'seed' });
    await scene.save();
    const texts = ['AAAA', 'BBBB', 'CCCC', 'DDDD'];
    for (const text of texts) {
      edit(text);
      await scene.save();
    }
    for (const [index, text] of texts.entries()) expect(await scene.content(index + 2, 'f')).toBe(text);
    edit('EEEE');
    expect((await scene.run(['diff', '5', '--name-only'])).stdout).toMatch(/f\n/);
    expect((await scene.save(['--if-changed'])).data.created).toBe(true);
    edit('FFFF');
    await scene.restore(5);
    expect(scene.read('f')).toBe('DDDD');
    // Once the cache trusts the file, only the time of its change tells.
    await new Promise((done) => setTimeout(done, 1100));
    await scene.save();
    const before = lstatSync(scene.at('f')).ino;
    writeFileSync(scene.at('f'), 'GGGG', { flag: 'r+' });
    utimesSync(scene.at('f'), then, then);
    expect(lstatSync(scene.at('f')).ino).toBe(before);
    const { data } = await scene.save();
    expect(data.stats.files_read).toBe(1);
    expect(await scene.content('latest', 'f')).toBe('GGGG');
  });
});

describe('empty folders', () => {
  test('come back, and an empty mount is restored to an empty mount', async () => {
    const scene = new Scene();
    await scene.save();
    const wasEmpty = remember(scene.mount);
    mkdirSync(scene.at('a/b/c'), { recursive: true });
    scene.write({ 'k/f': 'f' });
    mkdirSync(scene.at('k/e'));
    await scene.save();
    const wasThen = remember(scene.mount);
    await scene.restore(1);
    expectSame(wasEmpty);
    await scene.restore(2);
    expectSame(wasThen);
    scene.remove('a/b');
    scene.write({ 'a/b': 'file' });
    await scene.restore(2);
    expectSame(wasThen);
    scene.remove('k/f', 'a/b/c');
    await scene.restore(2);
    expectSame(wasThen);
  });

  test('that are new go, and the emptied ones that were there stay', async () => {
    const scene = new Scene();
    scene.write({ 'd/f': 'f' });
    await scene.save();
    scene.remove('d/f');
    mkdirSync(scene.at('new/deep'), { recursive: true });
    await scene.save();
    const wasThen = remember(scene.mount);
    await scene.restore(1);
    expect([scene.has('new'), scene.read('d/f')]).toEqual([false, 'f']);
    await scene.restore(2);
    expectSame(wasThen);
  });
});
