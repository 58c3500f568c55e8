import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { type TarEntry, TarWriter } from '../../src/core/tar-format.js';
import { runProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';
import { worstNames } from '../support/worst-tree.js';

const modified = new Date('2026-03-01T12:00:00.900Z');
const common = { mode: 0o644, uid: 0, gid: 0, modified };

type Part = TarEntry & { readonly content?: string };

async function write(parts: readonly Part[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const tar = new TarWriter((chunk) => {
    chunks.push(Buffer.from(chunk));
    return Promise.resolve();
  });
  for (const { content = '', ...entry } of parts) {
    await tar.add(entry);
    if (entry.type !== 'file') continue;
    await tar.content(Buffer.from(content, 'latin1'));
    await tar.endContent(entry.size);
  }
  await tar.finish();
  return Buffer.concat(chunks);
}

const file = (name: string, content = '', mode = 0o644): Part => ({
  ...common,
  type: 'file',
  name,
  mode,
  size: content.length,
  content,
});

/** What the system's own tar makes of the archive. */
function extract(archive: Buffer): string {
  const area = tempDir('tar');
  writeFileSync(join(area, 'x.tar'), archive);
  mkdirSync(join(area, 'out'));
  const { code, stderr } = runProcess('tar', ['-xpf', '../x.tar', '--delay-directory-restore'], {
    cwd: join(area, 'out'),
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    timeout: 30_000,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return join(area, 'out');
}

const inside = (root: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);

test('an empty archive is two empty blocks', async () => {
  const archive = await write([]);
  expect([archive.length, readdirSync(extract(archive))]).toEqual([1024, []]);
});

test.each([0, 1, 511, 512, 513, 10_240])('a file of %i bytes comes out as it went in', async (size) => {
  const content = Array.from({ length: size }, (_, at) => String.fromCharCode(at % 256)).join('');
  const archive = await write([file('f', content), file('after', 'x')]);
  expect(archive.length % 512).toBe(0);
  const root = extract(archive);
  expect(readFileSync(join(root, 'f'), 'latin1')).toBe(content);
  expect(readFileSync(join(root, 'after'), 'latin1')).toBe('x');
});

test.each([0o644, 0o600, 0o755, 0o444, 0o4755, 0o2750, 0o000])('the mode %i comes out as it went in', async (mode) => {
  const root = extract(await write([file('f', 'x', mode), { ...common, type: 'directory', name: 'd', mode: 0o1700 }]));
  expect(lstatSync(join(root, 'f')).mode & 0o7777).toBe(mode);
  expect(lstatSync(join(root, 'd')).mode & 0o7777).toBe(0o1700);
  expect(lstatSync(join(root, 'f')).mtimeMs).toBe(Date.parse('2026-03-01T12:00:00Z'));
});

test.each([1, 99, 100, 101, 255])('names of %i bytes, of files, folders and the targets of links', async (length) => {
  const name = 'n'.repeat(length - 1);
  const root = extract(
    await write([
      { ...common, type: 'directory', name: `d${name}`, mode: 0o755 },
      file(`f${name}`, 'content'),
      { ...common, type: 'symlink', name: `s${name}`, target: `t${name}` },
      { ...common, type: 'link', name: `l${name}`, target: `f${name}` },
    ]),
  );
  expect(lstatSync(join(root, `d${name}`)).isDirectory()).toBe(true);
  expect(readFileSync(join(root, `f${name}`), 'latin1')).toBe('content');
  expect(readlinkSync(join(root, `s${name}`))).toBe(`t${name}`);
  expect(lstatSync(join(root, `l${name}`)).ino).toBe(lstatSync(join(root, `f${name}`)).ino);
});

test('paths and link texts far beyond what a header holds', async () => {
  const folder = Array.from({ length: 12 }, () => 'd'.repeat(200)).join('/');
  const target = 'x/'.repeat(2000);
  const root = extract(await write([file(`${folder}/f`, 'deep'), { ...common, type: 'symlink', name: 's', target }]));
  expect(readFileSync(join(root, folder, 'f'), 'latin1')).toBe('deep');
  expect(readlinkSync(join(root, 's'))).toBe(target);
});

test('names of any bytes', async () => {
  const names = [...new Set(worstNames.map(({ name }) => name).filter((name) => !name.includes('/')))];
  const root = extract(await write(names.map((name, at) => file(`top/${name}`, String(at)))));
  const found = readdirSync(join(root, 'top'), { encoding: 'latin1' });
  expect(found.sort()).toEqual([...names].sort());
  names.forEach((name, at) => expect(readFileSync(inside(root, `top/${name}`), 'latin1')).toBe(String(at)));
});

test('owners and sizes beyond what octal digits hold are read by tar as they are', async () => {
  const area = tempDir('tar');
  const entry: Part = {
    ...common,
    type: 'file',
    name: 'big',
    size: 10_000_000_000,
    uid: 3_000_000_000,
    gid: 2_097_152,
  };
  const chunks: Buffer[] = [];
  const tar = new TarWriter((chunk) => {
    chunks.push(Buffer.from(chunk));
    return Promise.resolve();
  });
  await tar.add(entry);
  writeFileSync(join(area, 'x.tar'), Buffer.concat(chunks));
  const { stdout } = runProcess('tar', ['--numeric-owner', '-tvf', 'x.tar'], {
    cwd: area,
    env: { PATH: process.env['PATH'] ?? '' },
    timeout: 30_000,
  });
  expect(stdout).toMatch(/ 3000000000\/2097152 +10000000000 /);
});
