import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { InstanceName, MountName } from '../../src/core/ids.js';
import { layout, locateDataDirectory, openDataDirectory, refusalWithin } from '../../src/instance/data-directory.js';
import { tempDir } from '../support/temp.js';

const self = process.geteuid?.();
const inListedHome = join(userInfo().homedir, '.jackin/snapshots');
const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe('where the data directory lies', () => {
  test.each([
    { what: 'where the option says', option: '/o', env: { JACKIN_SNAP_DATA_DIR: '/v', HOME: '/h' }, found: '/o' },
    { what: 'below the current folder, for a relative option', option: 'o', env: { HOME: '/h' }, found: '/cwd/o' },
    {
      what: 'where its variable says',
      env: { JACKIN_SNAP_DATA_DIR: '/v', JACKIN_HOME_DIR: '/j', HOME: '/h' },
      found: '/v',
    },
    { what: 'below the current folder, for a relative variable', env: { JACKIN_SNAP_DATA_DIR: 'v' }, found: '/cwd/v' },
    { what: "in jackin's own folder", env: { JACKIN_HOME_DIR: '/j', HOME: '/h' }, found: '/j/snapshots' },
    { what: 'in the home directory', env: { HOME: '/h' }, found: '/h/.jackin/snapshots' },
    {
      what: 'as if empty variables were not there',
      env: { JACKIN_SNAP_DATA_DIR: '', JACKIN_HOME_DIR: '', HOME: '/h' },
      found: '/h/.jackin/snapshots',
    },
    { what: "in the listed home directory, for an empty 'HOME'", env: { HOME: '' }, found: inListedHome },
    { what: "in the listed home directory, for a relative 'HOME'", env: { HOME: 'h' }, found: inListedHome },
    { what: "in the listed home directory, for no 'HOME'", env: {}, found: inListedHome },
  ])('is $what', ({ option, env, found }) => {
    expect(locateDataDirectory(option, env, '/cwd')).toBe(found);
  });
});

describe('a data directory', () => {
  test('is made with all above it and in it, for its owner alone, whatever the umask', () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const area = tempDir();
    for (const umask of [0, 0o022, 0o777]) {
      process.umask(umask);
      const path = join(area, `above-${umask}`, 'data');
      const directory = openDataDirectory(path, self, true)!;
      expect(readdirSync(path).sort()).toEqual(['cache', 'instances', 'journals', 'locks']);
      const made = [
        join(path, '..'),
        path,
        directory.instances,
        directory.locks,
        directory.journals,
        join(path, 'cache'),
      ];
      expect(made.map(modeOf)).toEqual(made.map(() => 0o700));
    }
  });

  test('is not made by those who only look', () => {
    const path = join(tempDir(), 'data');
    expect(openDataDirectory(path, self, false)).toBeUndefined();
    expect(openDataDirectory(join(path, 'deeper'), self, false)).toBeUndefined();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  test('keeps its own stricter mode, and what is in it', () => {
    const path = join(tempDir(), 'data');
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, 'mine'), '');
    openDataDirectory(path, self, true);
    expect(lstatSync(join(path, 'mine')).isFile()).toBe(true);
    expect(modeOf(path)).toBe(0o700);
  });

  test('is known by its real path, through links', () => {
    const area = realpathSync(tempDir());
    mkdirSync(join(area, 'real'), { mode: 0o700 });
    symlinkSync('real', join(area, 'link'));
    expect(openDataDirectory(join(area, 'link'), self, true)!.path).toBe(join(area, 'real'));
  });

  test.each([0o755, 0o750, 0o740, 0o720, 0o704, 0o702, 0o777, 0o770])(
    'of mode %i is open to others, and refused',
    (mode) => {
      const path = join(tempDir(), 'data');
      mkdirSync(path);
      chmodSync(path, mode);
      for (const create of [true, false])
        expect(() => openDataDirectory(path, self, create)).toThrow(
          expect.objectContaining({ code: 'DATA_DIR_OPEN', data: { path, mode: mode.toString(8) } }),
        );
      expect([modeOf(path), readdirSync(path)]).toEqual([mode, []]);
    },
  );

  test.each([0o700, 0o711, 0o500, 0o1700])('of mode %i is private', (mode) => {
    const path = join(tempDir(), 'data');
    mkdirSync(path);
    chmodSync(path, mode);
    expect(openDataDirectory(path, self, false)?.path).toBe(path);
  });

  test.runIf(self === 0)('of another user is refused', () => {
    const path = join(tempDir(), 'data');
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, 65_534, 65_534);
    expect(() => openDataDirectory(path, self, true)).toThrow(expect.objectContaining({ code: 'DATA_DIR_DENIED' }));
    expect(openDataDirectory(path, 65_534, false)?.path).toBe(path);
  });

  test.each([
    { what: 'a file', make: (path: string) => writeFileSync(path, '') },
    { what: 'a link to nowhere', make: (path: string) => symlinkSync('none', path) },
    {
      what: 'a link to a file',
      make: (path: string) => symlinkSync('/etc/passwd', path),
    },
  ])('is not $what', ({ make }) => {
    const path = join(tempDir(), 'data');
    make(path);
    expect(() => openDataDirectory(path, self, true)).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_DENIED', data: { path } }),
    );
    expect(() => openDataDirectory(join(path, 'below'), self, true)).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_DENIED' }),
    );
  });

  test('has a place for everything, apart by instance and mount', () => {
    const { instanceDirectory, statCache, ...places } = layout('/data');
    const paths = [
      ...Object.values(places),
      instanceDirectory('a' as InstanceName),
      statCache('a' as InstanceName, 'b' as MountName),
      statCache('a-b' as InstanceName, 'c' as MountName),
      statCache('a' as InstanceName, 'b-c' as MountName),
    ];
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.every((path) => path.startsWith('/data'))).toBe(true);
  });
});

describe('a refusal of the system', () => {
  const refused = (code: string, path?: string): Error => Object.assign(new Error(code), { code, path });
  test.each([
    {
      what: 'in the data directory is its own',
      error: refused('EACCES', '/data/store.git/x'),
      code: 'DATA_DIR_DENIED',
    },
    { what: 'of the data directory itself is its own', error: refused('EROFS', '/data'), code: 'DATA_DIR_DENIED' },
    { what: 'elsewhere is none', error: refused('EACCES', '/srv/x'), code: undefined },
    { what: 'beside it is none', error: refused('EPERM', '/data-other/x'), code: undefined },
    { what: 'of no path is none', error: refused('EACCES'), code: undefined },
    { what: 'of another kind is none', error: refused('EIO', '/data/x'), code: undefined },
    { what: 'that is no error is none', error: 'EACCES /data', code: undefined },
  ])('$what', ({ error, code }) => {
    expect(refusalWithin('/data', error)?.code).toBe(code);
  });
});
