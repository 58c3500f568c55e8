import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { ReadFile, WrittenFile } from '../../src/fs/files.js';
import { tempDir } from '../support/temp.js';

const code = (value: string): unknown => expect.objectContaining({ code: value });
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('a file under construction', () => {
  test('is private until its mode is set, whatever the umask', () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const path = join(tempDir(), 'f');
    const file = WrittenFile.create(path);
    file.write(bytes('secret'));
    expect(lstatSync(path).mode & 0o7777).toBe(0o600);
    file.setMode(0o644);
    file.finish(true);
    expect(lstatSync(path).mode & 0o7777).toBe(0o644);
  });

  test.each([0o4755, 0o2755, 0o6711, 0o1644, 0o000, 0o444, 0o7777])('keeps all bits of the mode %i', (mode) => {
    const path = join(tempDir(), 'f');
    const file = WrittenFile.create(path);
    file.write(bytes('content'));
    expect(file.setOwner(process.getuid?.() ?? 0, process.getgid?.() ?? 0)).toBe(true);
    file.setMode(mode);
    file.finish(true);
    expect(lstatSync(path).mode & 0o7777).toBe(mode);
  });

  test('that ends in a hole keeps its set-id bits', () => {
    const path = join(tempDir(), 'f');
    const file = WrittenFile.create(path);
    file.skip(100_000);
    file.setMode(0o4755);
    file.finish(true);
    expect([lstatSync(path).mode & 0o7777, lstatSync(path).size]).toEqual([0o4755, 100_000]);
  });

  test.each([
    { what: 'nothing at all', steps: [], content: '' },
    { what: 'a hole alone', steps: [4096], content: '\0'.repeat(4096) },
    { what: 'a hole at the beginning', steps: [5000, 'end'], content: `${'\0'.repeat(5000)}end` },
    { what: 'a hole at the end', steps: ['begin', 3], content: 'begin\0\0\0' },
    { what: 'holes between', steps: ['a', 10, 'b', 10, 10, 'c'], content: `a${'\0'.repeat(10)}b${'\0'.repeat(20)}c` },
    { what: 'pieces without holes', steps: ['a', '', 'bc'], content: 'abc' },
  ])('may consist of $what', ({ steps, content }) => {
    const path = join(tempDir(), 'f');
    const file = WrittenFile.create(path);
    for (const step of steps) {
      if (typeof step === 'number') file.skip(step);
      else file.write(bytes(step));
    }
    file.finish(true);
    expect(readFileSync(path, 'latin1')).toBe(content);
  });

  test('takes no room for its holes', () => {
    const path = join(tempDir(), 'f');
    const file = WrittenFile.create(path);
    file.write(bytes('x'));
    file.skip(64 * 1024 * 1024);
    file.write(bytes('y'));
    file.finish(true);
    const { size, blocks } = lstatSync(path);
    expect(size).toBe(64 * 1024 * 1024 + 2);
    expect(blocks * 512).toBeLessThan(1024 * 1024);
  });

  test('is never one that was there', () => {
    const path = tempDir();
    writeFileSync(join(path, 'file'), 'old');
    mkdirSync(join(path, 'directory'));
    symlinkSync('file', join(path, 'link'));
    symlinkSync('none', join(path, 'dangling'));
    for (const name of ['file', 'directory', 'link', 'dangling'])
      expect(() => WrittenFile.create(join(path, name)), name).toThrow(code('EEXIST'));
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('old');
    expect(readdirSync(path).sort()).toEqual(['dangling', 'directory', 'file', 'link']);
  });
});

describe('a file that is read', () => {
  test('is the one that was opened, whatever its name means later', () => {
    const path = tempDir();
    writeFileSync(join(path, 'f'), 'first');
    writeFileSync(join(path, 'g'), 'second!');
    const file = ReadFile.open(join(path, 'f'));
    renameSync(join(path, 'g'), join(path, 'f'));
    const buffer = Buffer.alloc(20);
    expect([file.read(buffer), buffer.toString('latin1', 0, 5), file.read(buffer)]).toEqual([5, 'first', 0]);
    expect(file.stat().size).toBe(5);
    file.close();
  });

  test('is not reached through a link', () => {
    const path = tempDir();
    writeFileSync(join(path, 'f'), '');
    symlinkSync('f', join(path, 'link'));
    expect(() => ReadFile.open(join(path, 'link'))).toThrow(code('ELOOP'));
  });

  test('keeps its access time', () => {
    const path = join(tempDir(), 'f');
    writeFileSync(path, 'content');
    utimesSync(path, new Date('2001-01-01'), new Date('2002-01-01'));
    const file = ReadFile.open(path);
    file.read(Buffer.alloc(10));
    file.close();
    expect(lstatSync(path).atime).toEqual(new Date('2001-01-01'));
  });

  test.runIf(process.getuid?.() !== 0)('is refused where its mode forbids it', () => {
    const path = join(tempDir(), 'f');
    writeFileSync(path, '');
    chmodSync(path, 0);
    expect(() => ReadFile.open(path)).toThrow(code('EACCES'));
  });
});
