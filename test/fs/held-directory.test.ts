import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { WritableDirectory } from '../../src/core/ports.js';
import { openMount } from '../../src/fs/held-directory.js';
import { makeFifo } from '../support/build-tree.js';
import { tempDir } from '../support/temp.js';
import { area, code, opened, writeFile } from './held-area.js';

describe('a mount', () => {
  test('is not opened through a link, nor where no directory is', () => {
    const path = tempDir();
    mkdirSync(join(path, 'd'));
    symlinkSync('d', join(path, 'link'));
    writeFileSync(join(path, 'file'), '');
    makeFifo(join(path, 'fifo'));
    for (const [name, why] of [
      ['link', 'ENOTDIR'],
      ['file', 'ENOTDIR'],
      ['fifo', 'ENOTDIR'],
      ['none', 'ENOENT'],
    ] as const)
      expect(() => openMount(join(path, name) as HostPath), name).toThrow(code(why));
  });

  test('may have a name of any bytes', () => {
    const path = tempDir();
    mkdirSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from('caf\xe9\n', 'latin1')]));
    const root = opened(`${path}/caf\xe9\n`);
    writeFile(root, '\xff', 'x');
    expect(root.list()).toEqual(['\xff']);
  });
});

describe('a directory', () => {
  test('lists names in byte order, whatever they are', () => {
    const { root } = area();
    const names = ['Z', 'a', 'a\xff', 'b', '-rf', '\x01', '\xc3\xa9', '\xe9', 'a b', 'a\nb', '~', '.', '..'].slice(
      0,
      11,
    );
    for (const name of [...names].reverse()) writeFile(root, name, name);
    expect(root.list()).toEqual([...names].sort());
    for (const name of names) expect(root.stat(name)?.kind).toBe('file');
  });

  test('tells files, directories, links and special files apart, and what is not there', () => {
    const { path, root } = area();
    writeFile(root, 'file', 'abc');
    root.makeDirectory('directory');
    root.makeSymlink('link', '/etc/passwd');
    root.makeSymlink('dangling', '\xff/..');
    makeFifo(join(path, 'fifo'));
    expect(root.list().map((name) => root.stat(name)?.kind)).toEqual([
      'symlink',
      'directory',
      'special',
      'file',
      'symlink',
    ]);
    expect(root.stat('none')).toBeUndefined();
    expect(root.readLink('dangling')).toBe('\xff/..');
    expect(root.stat('file')).toMatchObject({ size: 3, nlink: 1, sparse: false, dev: root.identity.dev });
  });

  test('is the one that was opened, though its name leads elsewhere by now', () => {
    const { path, root } = area();
    mkdirSync(join(path, 'd'));
    mkdirSync(join(path, 'outside'));
    const d = root.enter('d');
    renameSync(join(path, 'd'), join(path, 'moved'));
    symlinkSync('outside', join(path, 'd'));
    writeFile(d, 'f', 'x');
    d.makeDirectory('sub');
    d.makeSymlink('s', 't');
    d.close();
    expect([readdirSync(join(path, 'outside')), readdirSync(join(path, 'moved')).sort()]).toEqual([
      [],
      ['f', 's', 'sub'],
    ]);
  });

  test('that was removed meanwhile takes nothing more', () => {
    const { path, root } = area();
    mkdirSync(join(path, 'd'));
    const d = root.enter('d');
    rmSync(join(path, 'd'), { recursive: true });
    expect(() => d.createFile('f')).toThrow(code('ENOENT'));
    expect(d.list()).toEqual([]);
    d.close();
  });

  test('cannot be used after it was closed, and may be closed twice', () => {
    const { root } = area();
    root.makeDirectory('d');
    const d = root.enter('d');
    d.close();
    d.close();
    for (const use of [
      () => d.list(),
      () => d.stat('x'),
      () => d.readLink('x'),
      () => d.createFile('x'),
      () => d.unlink('x'),
      () => d.rename('x', 'y'),
      () => d.enter('x'),
      () => d.setAttributes('x', root.statSelf(), { uid: 0, gid: 0, mode: 0o600 }),
    ])
      expect(use).toThrow(code('INTERNAL'));
    expect(root.list()).toEqual(['d']);
  });
});

describe('no link is followed', () => {
  function planted(): { path: string; root: WritableDirectory } {
    const made = area();
    mkdirSync(join(made.path, 'outside'));
    writeFileSync(join(made.path, 'outside/target'), 'target', { mode: 0o644 });
    mkdirSync(join(made.path, 'mount'));
    symlinkSync('../outside/target', join(made.path, 'mount/file'));
    symlinkSync('../outside', join(made.path, 'mount/folder'));
    symlinkSync('../outside/new', join(made.path, 'mount/dangling'));
    return { path: made.path, root: opened(join(made.path, 'mount')) };
  }

  test.each<{ what: string; act: (root: WritableDirectory) => unknown; why: string }>([
    { what: 'a file is opened', act: (root) => root.openFile('file'), why: 'ELOOP' },
    { what: 'a directory is entered', act: (root) => root.enter('folder'), why: 'ENOTDIR' },
    { what: 'a file is made over a link', act: (root) => root.createFile('file'), why: 'EEXIST' },
    { what: 'a file is made over a dangling link', act: (root) => root.createFile('dangling'), why: 'EEXIST' },
    { what: 'a directory is made over a dangling link', act: (root) => root.makeDirectory('dangling'), why: 'EEXIST' },
    { what: 'a directory is removed', act: (root) => root.removeDirectory('folder'), why: 'ENOTDIR' },
  ])('when $what', ({ act, why }) => {
    const { path, root } = planted();
    expect(() => act(root)).toThrow(code(why));
    expect(readdirSync(join(path, 'outside'))).toEqual(['target']);
    expect(lstatSync(join(path, 'outside/target')).mode & 0o7777).toBe(0o644);
  });

  test('when a link is renamed over, removed, linked or given away', () => {
    const { path, root } = planted();
    writeFile(root, 'new', 'new');
    root.link(root, 'file', 'again');
    root.setAttributes('again', root.stat('again')!, { ...own, mode: null });
    root.rename('new', 'file');
    root.unlink('folder');
    root.unlink('dangling');
    expect(readFileSync(join(path, 'outside/target'), 'utf8')).toBe('target');
    expect(root.list()).toEqual(['again', 'file']);
    expect(readlinkSync(join(path, 'mount/again'))).toBe('../outside/target');
    expect(readFileSync(join(path, 'mount/file'), 'utf8')).toBe('new');
  });
});

const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

describe('changes', () => {
  test('of modes reach set-id bits and modes that forbid everything', () => {
    const { path, root } = area();
    writeFile(root, 'f', 'x');
    root.makeDirectory('d');
    for (const mode of [0o4755, 0o2755, 0o000, 0o1777, 0o600]) {
      for (const name of ['f', 'd']) root.setAttributes(name, root.stat(name)!, { ...own, mode });
      expect([lstatSync(join(path, 'f')), lstatSync(join(path, 'd'))].map((stat) => stat.mode & 0o7777)).toEqual([
        mode,
        mode,
      ]);
    }
    root.setAttributes('d', root.stat('d')!, { ...own, mode: 0o755 });
    const d = root.enter('d');
    d.setOwnMode(0o2700);
    expect(d.statSelf().mode).toBe(0o2700);
    d.close();
  });

  test('are private until their mode is set', () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const { root } = area();
    root.createFile('f').abandon();
    root.makeDirectory('d');
    expect([root.stat('f')?.mode, root.stat('d')?.mode]).toEqual([0o600, 0o700]);
  });

  test('join names of one file in two directories', () => {
    const { root } = area();
    writeFile(root, 'f', 'x');
    root.makeDirectory('d');
    const d = root.enter('d');
    d.link(root, 'f', 'g');
    expect(d.stat('g')?.ino).toBe(root.stat('f')?.ino);
    d.sync();
    d.close();
  });

  test('that cannot be made say why', () => {
    const { root } = area();
    writeFile(root, 'f', 'x');
    root.makeDirectory('d');
    const d = root.enter('d');
    writeFile(d, 'x', '');
    d.close();
    expect(() => root.removeDirectory('d')).toThrow(code('ENOTEMPTY'));
    expect(() => root.unlink('none')).toThrow(code('ENOENT'));
    expect(() => root.enter('f')).toThrow(code('ENOTDIR'));
    expect(() => root.makeDirectory('n'.repeat(256))).toThrow(code('ENAMETOOLONG'));
  });
});

describe('a pipe in the place of a file', () => {
  test('does not make a reader wait', () => {
    const { path, root } = area();
    makeFifo(join(path, 'f'));
    const file = root.openFile('f');
    expect(file.stat().kind).toBe('special');
    file.close();
  });
});
