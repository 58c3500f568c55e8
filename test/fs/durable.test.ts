import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';

import {
  isUnfinished,
  makeDirectoryDurably,
  makeScratchDirectory,
  noSpace,
  orNoSpace,
  syncDirectory,
  writeCache,
  writeDurably,
  writeNewFile,
} from '../../src/fs/durable.js';
import { tempDir } from '../support/temp.js';

const umask = process.umask(0o022);
afterEach(() => process.umask(umask));
const modeOf = (path: string): number => statSync(path).mode & 0o7777;

/** Removes unfinished files, some hundred times a second. */
const sweeping = `
  const { readdirSync, rmSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  setInterval(() => {
    for (const name of readdirSync(workerData))
      if (name.endsWith('.new')) rmSync(workerData + '/' + name, { force: true });
    parentPort.postMessage('swept');
  }, 5);
`;

describe('a durable write', () => {
  test('makes and replaces a file, with exactly its mode, and leaves nothing beside it', () => {
    const directory = tempDir();
    const path = join(directory, 'file');
    process.umask(0o777);
    writeDurably(path, 'één');
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['één', 0o600]);
    process.umask(0);
    writeDurably(path, Buffer.from([0, 255]), 0o444);
    writeDurably(path, Buffer.from([1, 255]), 0o444);
    expect([[...readFileSync(path)], modeOf(path)]).toEqual([[1, 255], 0o444]);
    expect(readdirSync(directory)).toEqual(['file']);
  });

  test('is what that of a cache is, too, as long as the power stays', () => {
    const directory = tempDir();
    const path = join(directory, 'cache');
    process.umask(0);
    writeCache(path, 'old');
    writeCache(path, Buffer.from('new'));
    expect([readFileSync(path, 'utf8'), modeOf(path), readdirSync(directory)]).toEqual(['new', 0o600, ['cache']]);
    expect(() => {
      writeCache(join(directory, 'absent/cache'), 'x');
    }).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  test('is written anew when a sweep takes it for a leftover', async () => {
    const directory = tempDir();
    const sweeper = new Worker(sweeping, { eval: true, workerData: directory });
    await once(sweeper, 'message');
    for (let at = 0; at < 3000; at += 1) writeCache(join(directory, 'cache'), String(at));
    await sweeper.terminate();
    expect(readFileSync(join(directory, 'cache'), 'utf8')).toBe('2999');
  });

  test('replaces a link, not what it leads to', () => {
    const directory = tempDir();
    writeFileSync(join(directory, 'target'), 'target');
    symlinkSync('target', join(directory, 'link'));
    writeDurably(join(directory, 'link'), 'new');
    expect(readFileSync(join(directory, 'target'), 'utf8')).toBe('target');
  });

  test('that fails leaves the old file, and nothing beside it', () => {
    const directory = tempDir();
    mkdirSync(join(directory, 'taken/by'), { recursive: true });
    expect(() => {
      writeDurably(join(directory, 'taken'), 'x');
    }).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    expect(readdirSync(directory)).toEqual(['taken']);
    expect(() => {
      writeDurably(join(directory, 'absent/file'), 'x');
    }).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  test('has a name of its own until it is finished', () => {
    expect(isUnfinished('config.0123456789abcdef.new')).toBe(true);
    expect(['config', 'a.new', 'x.0123456789abcdef', 'y.0123456789abcdeg.new'].some(isUnfinished)).toBe(false);
  });

  test('of a new file never touches one that is there', () => {
    const path = join(tempDir(), 'file');
    writeNewFile(path, Buffer.from('one'), { mode: 0o400, durable: true });
    expect(modeOf(path)).toBe(0o400);
    expect(() => {
      writeNewFile(path, Buffer.from('two'), { mode: 0o400, durable: false });
    }).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(readFileSync(path, 'utf8')).toBe('one');
  });
});

describe('a durable directory', () => {
  test('is made with those above it, each with exactly the mode', () => {
    const base = tempDir();
    process.umask(0o777);
    makeDirectoryDurably(join(base, 'a/b/c'), 0o700);
    expect(['a', 'a/b', 'a/b/c'].map((name) => modeOf(join(base, name)))).toEqual([0o700, 0o700, 0o700]);
  });

  test('that is there stays as it is, also behind a link', () => {
    const base = tempDir();
    mkdirSync(join(base, 'there'));
    chmodSync(join(base, 'there'), 0o755);
    symlinkSync('there', join(base, 'link'));
    makeDirectoryDurably(join(base, 'there'), 0o700);
    makeDirectoryDurably(join(base, 'link'), 0o700);
    expect(modeOf(join(base, 'there'))).toBe(0o755);
  });

  test('is not made where a file is', () => {
    const base = tempDir();
    writeFileSync(join(base, 'file'), '');
    expect(() => {
      makeDirectoryDurably(join(base, 'file'));
    }).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(() => {
      syncDirectory(join(base, 'file'));
    }).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  test('for scratch is new each time and private', () => {
    const base = tempDir();
    process.umask(0);
    const made = [makeScratchDirectory(join(base, 'tmp')), makeScratchDirectory(join(base, 'tmp'))];
    expect(new Set(made).size).toBe(2);
    expect([join(base, 'tmp'), ...made].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
  });
});

test.each([
  { thrown: 'ENOSPC', becomes: 'NO_SPACE' },
  { thrown: 'EDQUOT', becomes: 'NO_SPACE' },
  { thrown: 'EIO', becomes: 'EIO' },
])('$thrown becomes $becomes', ({ thrown, becomes }) => {
  const act = (): void => {
    throw Object.assign(new Error('x'), { code: thrown });
  };
  expect(() => {
    orNoSpace('/some/path', act);
  }).toThrow(expect.objectContaining({ code: becomes }));
  expect(noSpace('/some/path').data).toEqual({ path: '/some/path' });
});
