import { chmodSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import {
  digest,
  freeBytes,
  identity,
  isHome,
  makeDirectory,
  mountPointsBelow,
  realPath,
} from '../../src/instance/host.js';
import { tempDir } from '../support/temp.js';

describe('a home directory', () => {
  test.each([
    { what: "the caller's", path: '/somewhere/me', home: '/somewhere/me', is: true },
    { what: "root's, by the list of users", path: '/root', home: '/somewhere/me', is: true },
    { what: "the machine's own idea of the caller's", path: homedir(), home: '/somewhere/me', is: true },
    { what: 'a folder in one', path: '/root/project', home: '/somewhere/me', is: false },
    { what: 'the folder of all', path: '/home', home: '/somewhere/me', is: false },
    { what: 'a folder of a system account', path: '/bin', home: '/somewhere/me', is: false },
    { what: 'the root of the file system', path: '/', home: '/somewhere/me', is: false },
    { what: 'another folder', path: '/srv', home: undefined, is: false },
    { what: 'nothing, for an empty variable', path: '', home: '', is: false },
  ])('is $path ($what): $is', ({ path, home, is }) => {
    expect(isHome(path, home)).toBe(is);
  });

  test('is found behind a link', () => {
    const area = tempDir();
    mkdirSync(join(area, 'real'));
    symlinkSync('real', join(area, 'home'));
    expect(isHome(join(area, 'real'), join(area, 'home'))).toBe(true);
    expect(isHome(join(area, 'other'), join(area, 'home'))).toBe(false);
  });
});

describe('a path of the host', () => {
  function area(): string {
    const path = tempDir();
    mkdirSync(join(path, 'd'));
    writeFileSync(join(path, 'f'), '');
    symlinkSync('d', join(path, 'link'));
    symlinkSync('none', join(path, 'dangling'));
    symlinkSync('loop', join(path, 'loop'));
    makeDirectory(`${path}/\xff\n`);
    return path;
  }

  test('is real once links are followed, in bytes', () => {
    const path = area();
    expect(realPath(`${path}/link`)).toBe(`${path}/d`);
    expect(realPath(`${path}/d/../\xff\n`)).toBe(`${path}/\xff\n`);
    for (const name of ['none', 'dangling', 'loop', 'f/x', 'n'.repeat(256), 'n/'.repeat(3000)])
      expect(realPath(`${path}/${name}`)).toBeUndefined();
  });

  test('is known by what is there itself, a link included', () => {
    const path = area();
    const stat = lstatSync(join(path, 'd'), { bigint: true });
    expect(identity(`${path}/d`)).toEqual({ dev: stat.dev, ino: stat.ino, directory: true });
    expect(identity(`${path}/link`)).toEqual(expect.objectContaining({ directory: false }));
    expect(identity(`${path}/f`)).toEqual(expect.objectContaining({ directory: false }));
    expect(identity(`${path}/dangling`)?.directory).toBe(false);
    for (const name of ['none', 'f/x', 'n'.repeat(256)]) expect(identity(`${path}/${name}`)).toBeUndefined();
  });

  test('is made as a new, private folder', () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const path = area();
    makeDirectory(`${path}/new`);
    expect(lstatSync(join(path, 'new')).mode & 0o7777).toBe(0o700);
    expect(() => makeDirectory(`${path}/new`)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(() => makeDirectory(`${path}/dangling`)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    for (const missing of ['none/new', 'f/new'])
      expect(() => makeDirectory(`${path}/${missing}`)).toThrow(expect.objectContaining({ code: 'PATH_NOT_FOUND' }));
  });

  test.runIf(process.geteuid?.() !== 0)('that may not be looked at is not there', () => {
    const path = area();
    chmodSync(path, 0);
    expect([realPath(`${path}/d`), identity(`${path}/d`)]).toEqual([undefined, undefined]);
    chmodSync(path, 0o700);
  });

  test('has room', () => {
    expect(freeBytes(tempDir())).toBeGreaterThan(0);
  });
});

test('a digest is that of the bytes', () => {
  expect(digest('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(digest('\xc3\xa9')).not.toBe(digest('\xe9'));
});

test('what is mounted below a folder is known', () => {
  const all = mountPointsBelow('/');
  expect([...all]).toContain('proc');
  expect(mountPointsBelow('/proc/none')).toEqual(new Set());
  expect([...mountPointsBelow('/pro')]).toEqual([]);
});
