import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { fromBytes, toBytes, utf8 } from '../support/bytes.js';
import { removeWithin } from '../support/remove-tree.js';
import { storeGit } from '../support/store-git.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, planned, remember } from './scene.js';

// Names are bytes, carried here as latin1.

interface Bytes {
  readonly base64: string;
}

/** A path of a document as bytes. */
function bytesOf(path: string | Bytes): string {
  return typeof path === 'string' ? utf8(path) : fromBytes(Buffer.from(path.base64, 'base64'));
}

function clear(scene: Scene): void {
  for (const { path } of walkTree(scene.mount, { hash: false }))
    if (!path.includes('/')) removeWithin(scene.mount, path);
}

async function tree(scene: Scene, spec: TreeSpec): Promise<void> {
  await buildTree(scene.mount, spec);
}

describe('names that are no text', () => {
  const spec: TreeSpec = [
    file('bad\xff\xfename', 'x'),
    file('d\xe9/f', 'y'),
    file('\xed\xa0\x80', 'z'),
    symlink('l\xfe', 'to\xff'),
    file('tail\xc3', 'b'),
    directory('empty\x80\x80'),
    file(utf8('ok-\u00e9'), 'text'),
  ];

  test('come back, and are told in documents as bytes', async () => {
    const scene = new Scene();
    await tree(scene, spec);
    const wasThen = remember(scene.mount);
    await scene.save();
    clear(scene);
    await tree(scene, [file('later\xff', 'q'), file('d\xe9', 'flat')]);
    const wasNow = remember(scene.mount);
    const restored = await scene.restore();
    expectSame(wasThen);
    const reverted = restored.data.changes_reverted.map(bytesOf);
    expect(reverted).toEqual(expect.arrayContaining(['bad\xff\xfename', 'd\xe9', 'd\xe9/f', 'l\xfe', 'later\xff']));
    const texts = restored.data.plan.filter(({ path }: { path: unknown }) => typeof path === 'string');
    expect(texts.map(({ path }: { path: string }) => path)).toEqual([utf8('ok-\u00e9')].map(() => 'ok-\u00e9'));
    const hosts = restored.data.plan.map(({ host_path }: { host_path: string | Bytes }) => bytesOf(host_path));
    expect(hosts).toContain(`${scene.mount}/bad\xff\xfename`);
    const listing = storeGit(scene.dataDir, ['ls-tree', '-z', '--name-only', 'refs/jackin/t/1:mounts/m']);
    expect(fromBytes(listing.stdoutBytes).split('\0')).toContain('bad\xff\xfename');
    const shown = await scene.json(['tree', '1']);
    expect(shown.data.entries.map(({ path }: { path: string | Bytes }) => bytesOf(path)).sort()).toEqual(
      walkTree(scene.mount).map(({ path }) => path),
    );
    await scene.undo();
    expectSame(wasNow);
  });

  test('reach every command that takes paths through --paths-from', async () => {
    const scene = new Scene();
    await tree(scene, [...spec, file('a\nb', 'newline'), file('--yes', 'option'), file('*', 'star')]);
    await scene.save();
    const list = join(scene.area, 'list');
    const name = (...paths: string[]): string[] => {
      writeFileSync(list, toBytes(paths.map((path) => `${path}\0`).join('')));
      return ['--paths-from', list];
    };
    for (const [path, content] of [
      ['bad\xff\xfename', 'x'],
      ['a\nb', 'newline'],
      ['d\xe9/f', 'y'],
      ['--yes', 'option'],
    ])
      expect((await scene.run(['cat', '1', ...name(path!)])).stdout).toBe(content);
    const before = walkTree(scene.mount);
    for (const { path } of before) if (!path.includes('/')) removeWithin(scene.mount, path);
    await scene.restore(1, name('bad\xff\xfename', 'a\nb', 'd\xe9', '*'));
    expect(walkTree(scene.mount).map(({ path }) => path)).toEqual(['*', 'a\nb', 'bad\xff\xfename', 'd\xe9', 'd\xe9/f']);
    const changed = await scene.run(['diff', '1', '--name-only', '-z', ...name('tail\xc3', 'a\nb')]);
    expect(fromBytes(changed.stdoutBytes)).toBe('m/tail\xc3\0');
    await scene.save(name('a\nb', 'tail\xc3'), { instance: 'p' });
    const saved = await scene.json(['tree', '1'], { instance: 'p' });
    expect(saved.data.entries.map(({ path }: { path: string | Bytes }) => bytesOf(path))).toEqual(['a\nb']);
    const fromStdin = await scene.run(['cat', '1', '--paths-from', '-'], { stdin: toBytes('*\0') });
    expect(fromStdin.stdout).toBe('star');
    for (const stdin of ['', '\0', '\0\0'])
      await scene.run(['restore', '1', '--yes', '--paths-from', '-'], { stdin, code: 2 });
  });
});

describe('awkward names', () => {
  const awkward = ['报告.txt', ' lead', 'trail ', 'a"b', "a'b", 'n\nl', 't\tab', '-rf', '--', '--yes', 'a\\b', '*', '?']
    .concat([
      '[a]',
      '$(x)',
      '`x`',
      '😀',
      'C:x',
      '%41',
      '.tmp',
      '~',
      '!x',
      '#x',
      ':(glob)*',
      'a:b',
      'r\rr',
      '...',
      '-',
      '@',
    ])
    .concat(['{a,b}', 'a b', '..a', 'latest', '1', 'm:x', 'con', 'x'.repeat(255)]);

  test('are shown, compared and restored, and no argument is a pattern or an option', async () => {
    const scene = new Scene();
    for (const name of awkward) writeFileSync(scene.at(name), `then ${name}`);
    const wasThen = remember(scene.mount);
    await scene.save();
    const read = await scene.json(['cat', '1', '--', ...awkward]);
    expect(read.data.files.map(({ content }: { content: string }) => content)).toEqual(
      awkward.map((name) => `then ${name}`),
    );
    for (const name of awkward) rmSync(scene.at(name));
    // Names that git forbids are told as they are stored; all others as they are.
    const named = (await scene.run(['diff', '1', '--name-only', '-z'])).stdout.split('\0');
    const plain = awkward.filter((name) => name !== '...' && !name.includes('\\'));
    expect(named).toEqual(expect.arrayContaining(plain.map((name) => `m/${name}`)));
    expect(named).toHaveLength(awkward.length + 1);
    expect((await scene.run(['diff', '1', '--name-only'])).stdout.trimEnd().split('\n')).toHaveLength(awkward.length);
    await scene.restore();
    expectSame(wasThen);

    for (const name of awkward) writeFileSync(scene.at(name), 'changed');
    const chosen = ['*', '-rf', '[a]', 'a\\b', '--', 'n\nl', ':(glob)*', '?', 'm:x', '~', '{a,b}'];
    const restored = await scene.restore(1, ['--', ...chosen]);
    expect(planned(restored).sort()).toEqual(chosen.map((name) => `overwrite ${name}`).sort());
    for (const name of awkward) expect(scene.read(name)).toBe(chosen.includes(name) ? `then ${name}` : 'changed');
    await scene.restore();
    expectSame(wasThen);
  });

  test('of folders are spelled as people and shells spell them', async () => {
    const scene = new Scene();
    scene.write({ 'd/e/f': 'then', 'd/g': 'then', h: 'then' });
    await scene.save();
    for (const [path, back] of [
      ['d/', ['d/e/f', 'd/g']],
      ['./d/e', ['d/e/f']],
      ['./h', ['h']],
      ['.', ['d/e/f', 'd/g', 'h']],
      ['./', ['d/e/f', 'd/g', 'h']],
      ['d//e', ['d/e/f']],
    ] as const) {
      scene.write({ 'd/e/f': 'now', 'd/g': 'now', h: 'now' });
      await scene.restore(1, ['--', path]);
      const restored = ['d/e/f', 'd/g', 'h'].filter((name) => scene.read(name) === 'then');
      expect(restored, path).toEqual(back);
    }
    for (const path of ['/etc/passwd', '../out', 'd/../../out', ''])
      await scene.run(['restore', '1', '--yes', '--', path], { code: [2, 3] });
  });
});

describe('names that differ in case alone', () => {
  test('are different files: renamed, side by side, and for ignore rules', async () => {
    const scene = new Scene();
    scene.write({
      'Hello.txt': '1',
      K: 'a',
      k: 'b',
      'Dir/f': '1',
      'dir/f': '2',
      '.gitignore': 'build\n',
      BUILD: 'big',
    });
    expect(walkTree(scene.mount), 'this file system tells cases apart').toHaveLength(9);
    await scene.save();
    const wasThen = remember(scene.mount);
    scene.remove('Hello.txt', 'K', 'dir', 'BUILD');
    scene.write({ 'hello.txt': '1', 'DIR/f': '1' });
    const wasNow = remember(scene.mount);
    const restored = await scene.restore();
    expectSame(wasThen);
    expect(planned(restored)).toEqual(expect.arrayContaining(['create Hello.txt', 'delete hello.txt', 'delete DIR/f']));
    await scene.undo();
    expectSame(wasNow);
  });

  test('and in how their letters are composed, too', async () => {
    const scene = new Scene();
    const [composed, decomposed] = ['\u00e9', 'e\u0301'];
    scene.write({ [composed]: 'one', [decomposed]: 'two' });
    await scene.save();
    scene.remove(composed);
    await scene.restore();
    expect([scene.read(composed), scene.read(decomposed)]).toEqual(['one', 'two']);
    expect(await scene.content(1, decomposed)).toBe('two');
  });
});

describe('paths longer than the system takes at once', () => {
  const part = 'd'.repeat(200);
  const long = Array.from({ length: 25 }, () => part).join('/');

  test('are stored, restored, and undone', async () => {
    const scene = new Scene();
    await tree(scene, [
      file(`${long}/leaf`, 'deep'),
      symlink(`${long}/link`, 'leaf'),
      directory(`${long}/empty`),
      file('ok'),
    ]);
    const wasThen = remember(scene.mount);
    const saved = await scene.save();
    expect(saved.data).toMatchObject({ complete: true, stats: { files_stored: 3 } });
    removeWithin(scene.mount, `${long}/leaf`);
    removeWithin(scene.mount, `${long}/empty`);
    scene.write({ other: 'new' });
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
    removeWithin(scene.mount, part);
    await scene.restore();
    expectSame(wasThen);
    expect(await scene.content(1, `${long}/leaf`)).toBe('deep');
  });

  test('of many short names are so, too', async () => {
    const scene = new Scene();
    const deep = Array.from({ length: 400 }, () => 'd').join('/');
    await tree(scene, [file(`${deep}/leaf`, 'deep')]);
    const wasThen = remember(scene.mount);
    await scene.save();
    removeWithin(scene.mount, 'd');
    await scene.restore();
    expectSame(wasThen);
    await scene.run(['export', '1', join(scene.area, 'export')]);
    expect(walkTree(join(scene.area, 'export')).at(-1)?.path).toBe(`${deep}/leaf`);
  });
});

test('a file that is named like what the program makes is a file like others', async () => {
  const scene = new Scene();
  const names = [
    '.jackin-01ARZ3NDEKTSV4RRFFQ69G5FAV-1',
    '.jackin',
    'store.git/HEAD',
    'meta/manifest.json',
    'mounts/m/f',
  ];
  scene.write(Object.fromEntries(names.map((name) => [name, name])));
  await scene.save();
  const wasThen = remember(scene.mount);
  for (const name of names) rmSync(scene.at(name));
  scene.write({ '.jackin-01ARZ3NDEKTSV4RRFFQ69G5FAV-2': 'new' });
  await scene.restore();
  expectSame(wasThen);
});

test('the name of a mount comes from its folder, whatever that is called', async () => {
  const scene = new Scene();
  const folders = ['Ünïcode Dir', '-dash', '.hidden', 'a b', 'UPPER', '...'].map((name) =>
    scene.folder(`w/${name}`, { f: name }),
  );
  for (const [index, folder] of folders.entries()) {
    const saved = await scene.save([], { dirs: [folder], instance: `i${index}` });
    const [mount] = saved.data.mounts;
    expect(mount.path).toBe(folder);
    expect(mount.name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
    rmSync(join(folder, 'f'));
    await scene.restore(1, [], { instance: `i${index}` });
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe(folder.slice(folder.lastIndexOf('/') + 1));
  }
  const derived = await scene.json(['save', folders[0]!], { instance: null, code: [0, 2, 4] });
  expect(derived.document.command).toBe('save');
  const both = [scene.folder('x/same', { f: '1' }), scene.folder('y/same', { f: '2' })];
  const saved = await scene.save([], { dirs: both, instance: 'both' });
  expect(saved.data.mounts.map(({ name }: { name: string }) => name)).toEqual(['same', 'same-2']);
});
