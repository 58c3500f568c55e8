import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { isDirty } from '../../src/git/user-repo/dirty.js';
import { readUserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';
import { commitAt, history, mkfifo, presentIn, readDirectory } from './user-repo-samples.js';

describe('what was planted', () => {
  test.each([
    { what: 'a pipe', plant: (path: string) => mkfifo(path), words: 'HEAD is not a regular file' },
    {
      what: 'a link',
      plant: (path: string) => symlinkSync('/etc/hostname', path),
      words: 'HEAD is not a regular file',
    },
    { what: 'a directory', plant: (path: string) => mkdirSync(path), words: 'HEAD is not a regular file' },
    {
      what: 'garbage',
      plant: (path: string) => writeFileSync(path, Buffer.alloc(5000, 0xfe)),
      words: 'HEAD is malformed',
    },
    {
      what: 'a huge file',
      plant: (path: string) => writeFileSync(path, Buffer.alloc(70_000)),
      words: 'HEAD is larger than 65536 bytes',
    },
    {
      what: 'a way out',
      plant: (path: string) => writeFileSync(path, 'ref: ../../../etc/passwd\n'),
      words: 'HEAD names no ref',
    },
    {
      what: 'a ref out of sight',
      plant: (path: string) => writeFileSync(path, 'ref: refs/../../x\n'),
      words: 'HEAD names no ref',
    },
    {
      what: 'a circle',
      plant: (path: string) => writeFileSync(path, 'ref: refs/heads/loop\n'),
      words: 'a symbolic ref leads too far',
    },
    { what: 'nothing', plant: () => undefined, words: 'HEAD is missing' },
  ])('$what as HEAD', async ({ plant, words }) => {
    const path = history();
    writeFileSync(join(path, '.git/refs/heads/loop'), 'ref: refs/heads/loop\n');
    rmSync(join(path, '.git/HEAD'));
    plant(join(path, '.git/HEAD'));
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, unknown: [words] });
    expect(repo.index?.has('src/main.c')).toBe(true);
  });

  test.each(['config', 'index', 'info/exclude', 'packed-refs', 'refs/heads/main'])('a pipe as %s', async (name) => {
    const path = history();
    rmSync(join(path, '.git', name), { force: true });
    mkfifo(join(path, '.git', name));
    if (name === 'packed-refs') rmSync(join(path, '.git/refs/heads/main'));
    const { state } = await readDirectory(path);
    expect(state.unknown).toEqual([`${name.replace(/.*\//, '')} is not a regular file`]);
  });

  test('a linked directory on the way is not entered', async () => {
    const path = history();
    renameSync(join(path, '.git/refs'), join(path, 'elsewhere'));
    symlinkSync('../elsewhere', join(path, '.git/refs'));
    expect((await readDirectory(path)).state).toMatchObject({
      head: null,
      branch: 'main',
      unknown: ['refs is a link'],
    });
  });

  test('a linked .git directory is not entered', async () => {
    const path = history();
    renameSync(join(path, '.git'), join(path, 'elsewhere'));
    symlinkSync('elsewhere', join(path, '.git'));
    const repo = await readUserRepo(path, 'directory');
    expect(repo).toMatchObject({ index: null, state: { unknown: ['.git is a link'] } });
  });

  test('an object or pack that unpacks without end', async () => {
    const path = history();
    const head = commitAt(path);
    const bomb = deflateSync(Buffer.concat([Buffer.from('commit 99999999\0'), Buffer.alloc(99_999_999)]));
    const object = join(path, '.git/objects', head.slice(0, 2), head.slice(2));
    chmodSync(object, 0o644);
    writeFileSync(object, bomb);
    const repo = await readDirectory(path);
    expect(repo).toMatchObject({
      headTree: null,
      state: { head, unknown: ['the commit at HEAD is not in the repository itself'] },
    });
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });

  test('bytes flipped in packs and their indexes', async () => {
    const path = history();
    user.packObjects(path);
    const tree = commitAt(path, 'HEAD^{tree}');
    const folder = join(path, '.git/objects/pack');
    for (const name of readdirSync(folder).filter((each) => /\.(idx|pack)$/.test(each))) {
      const original = readFileSync(join(folder, name));
      chmodSync(join(folder, name), 0o644);
      for (let at = 0; at < original.length; at += 3) {
        const damaged = Buffer.from(original);
        damaged[at] = (damaged[at] ?? 0) ^ 0xff;
        writeFileSync(join(folder, name), damaged);
        const repo = await readDirectory(path);
        expect([tree, null]).toContain(repo.headTree);
        expect(repo.state.unknown.length > 0).toBe(repo.headTree === null);
      }
      writeFileSync(join(folder, name), original);
    }
  });

  test.each([
    { content: 'gitdir: /nowhere/at/all\n', words: 'no repository is where .git leads' },
    { content: 'gitdir: ../nowhere\n', words: 'no repository is where .git leads' },
    { content: 'something else\n', words: 'no repository is where .git leads' },
    { content: '', words: 'no repository is where .git leads' },
    { content: `gitdir: ${'x'.repeat(70_000)}`, words: '.git is larger than 65536 bytes' },
    { content: `gitdir: ${'x'.repeat(9000)}`, words: `${'x'.repeat(9000)} cannot be read (ENAMETOOLONG)` },
    { content: 'gitdir: /proc/self\n', words: 'self is a link' },
    { content: 'gitdir: /dev\n', words: 'HEAD is missing' },
  ])('a .git file with $content.length bytes: $words', async ({ content, words }) => {
    const path = tempDir();
    writeFileSync(join(path, '.git'), content);
    const repo = await readUserRepo(path, 'file');
    expect(repo?.state.unknown).toContain(words);
    expect(repo?.headTree).toBeNull();
  });

  test('a .git file that is a pipe by now', async () => {
    const path = tempDir();
    mkfifo(join(path, '.git'));
    expect(await readUserRepo(path, 'file')).toMatchObject({
      index: null,
      state: { unknown: ['.git is not a regular file'] },
    });
  });

  test('a .git directory that is no repository', async () => {
    const path = tempDir();
    expect(await readUserRepo(path, 'directory')).toBeNull();
    mkdirSync(join(path, '.git'));
    expect(await readUserRepo(path, 'directory')).toBeNull();
    mkdirSync(join(path, '.git/objects'));
    expect((await readUserRepo(path, 'directory'))?.state.unknown).toEqual(['HEAD is missing']);
  });

  test('nothing is changed, not even an access time', async () => {
    const path = history();
    const files = execFileSync('find', [join(path, '.git'), '-type', 'f'])
      .toString()
      .trim()
      .split('\n');
    const old = new Date(1_000_000_000_000);
    for (const file of files) utimesSync(file, old, old);
    const before = files.map((file) => statSync(file).atimeMs);
    await readDirectory(path);
    expect(files.map((file) => statSync(file).atimeMs)).toEqual(before);
  });
});
