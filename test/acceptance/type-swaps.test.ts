import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFifo } from '../support/build-tree.js';
import { commitFiles, createRepository, writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, keptReasons, planned, remember, rememberUntouched } from './scene.js';

type Kind = 'nothing' | 'file' | 'link' | 'broken-link' | 'empty-folder' | 'folder' | 'pipe';

/** What a path can be; `when` tells the one of then from the one of now. */
const make: Readonly<Record<Kind, (path: string, when: string) => void>> = {
  nothing: () => undefined,
  file: (path, when) => writeFileSync(path, `${when} file`),
  link: (path, when) => symlinkSync(`../${when}`, path),
  'broken-link': (path, when) => symlinkSync(`no-${when}`, path),
  'empty-folder': (path) => mkdirSync(path, 0o711),
  folder: (path, when) => writeFiles(path, { [`${when}/deep/file`]: when, same: when }),
  pipe: (path) => makeFifo(path),
};
const kinds = Object.keys(make) as Kind[];
const pairs = kinds.flatMap((then) => kinds.map((now) => ({ then, now, name: `${then} to ${now}` })));

describe('a path that became something else', () => {
  // Siblings sort between a folder and what is in it: `x`, `x-`, `x.`, then `x/…`.
  test.each([{ suffix: '' }, { suffix: '-' }, { suffix: '.x' }])(
    'is what it was again, and undone what it became: every kind to every other (names with "$suffix")',
    async ({ suffix }) => {
      const scene = new Scene();
      const at = (name: string): string => scene.at('all', `${name}${suffix}`);
      mkdirSync(scene.at('all'));
      for (const { then, name } of pairs) make[then](at(name), 'then');
      if (suffix !== '') for (const { name } of pairs) writeFileSync(scene.at('all', name), 'sibling');
      await scene.save();
      const wasThen = look(scene.mount);
      for (const { name } of pairs) rmSync(at(name), { recursive: true, force: true });
      for (const { now, name } of pairs) make[now](at(name), 'now');
      const wasNow = look(scene.mount);

      const restored = await scene.restore(1, [], { code: 6 });
      const partly = pairs.filter(({ then, now }) => isHeldByPipe(then, now)).map(({ name }) => `all/${name}${suffix}`);
      expect(restored.data.failed.map(({ path }: { path: string }) => path).sort()).toEqual(partly.sort());
      const expected = { ...wasThen };
      for (const { then, now, name } of pairs) {
        // What no snapshot can hold stays where it is, and nothing is put in its place or found missing there.
        if (then === 'pipe' || now === 'pipe') replace(expected, `all/${name}${suffix}`, wasNow);
      }
      expect(look(scene.mount)).toEqual(expected);
      await scene.undo([], { code: [0, 6] });
      expect(look(scene.mount)).toEqual(wasNow);
    },
  );

  test('is put back without a word about links that lead out of the folder', async () => {
    const scene = new Scene();
    writeFiles(scene.outside, { child: 'precious', later: 'x', 'e/f': 'precious' });
    const outside = rememberUntouched(scene.outside);
    scene.write({ 'folder/child': 'in', 'folder/e/f': 'in', 'top/child': 'in' });
    symlinkSync(scene.outside, scene.at('link'));
    await scene.save();
    const wasThen = remember(scene.mount);
    scene.remove('folder', 'link', 'top');
    symlinkSync(scene.outside, scene.at('folder'));
    symlinkSync('folder', scene.at('top'));
    scene.write({ 'link/child': 'inside', 'link/later': 'new' });
    const wasNow = remember(scene.mount);
    const restored = await scene.restore();
    expectSame(wasThen);
    expect(planned(restored)).toEqual(
      expect.arrayContaining(['retype folder', 'retype link', 'delete link/child', 'create folder/child']),
    );
    const { seq } = await scene.emergency();
    expect(await scene.content(seq, 'link/child')).toBe('inside');
    await scene.undo();
    expectSame(wasNow);
    expectSame(outside, 'the folder outside');
  });

  test('makes its way for one path that was asked for, and no other', async () => {
    const scene = new Scene();
    writeFiles(scene.outside, { f: 'precious' });
    const outside = rememberUntouched(scene.outside);
    scene.write({ 'd/e/f': 'in', 'd/e/g': 'in', 'd/h': 'in' });
    await scene.save();
    scene.remove('d/e');
    symlinkSync(scene.outside, scene.at('d/e'));
    await scene.restore(1, ['--', 'd/e/f']);
    expect(scene.read('d/e/f')).toBe('in');
    expect(scene.has('d/e/g')).toBe(false);
    expect(lstatSync(scene.at('d/e')).isDirectory()).toBe(true);
    expectSame(outside, 'the folder outside');
    await scene.undo();
    expect(lstatSync(scene.at('d/e')).isSymbolicLink()).toBe(true);
    scene.remove('d');
    scene.write({ d: 'flat' });
    await scene.restore(1, ['--', 'd/e']);
    expect([scene.read('d/e/f'), scene.read('d/e/g'), scene.has('d/h')]).toEqual(['in', 'in', false]);
    await scene.undo();
    expect(scene.read('d')).toBe('flat');
    scene.remove('d');
    await scene.restore(1, ['--', 'd/e/f']);
    expect([scene.read('d/e/f'), scene.has('d/e/g')]).toEqual(['in', false]);
    await scene.undo();
    expect(scene.has('d')).toBe(false);
  });

  test('and back, again and again, in one folder after the other', async () => {
    const scene = new Scene();
    scene.write({ x: 'file', 'y/z': 'in' });
    await scene.save();
    const first = remember(scene.mount);
    scene.remove('x', 'y');
    scene.write({ 'x/x/x': 'deep', y: 'flat' });
    await scene.save();
    const second = remember(scene.mount);
    scene.remove('x', 'y');
    symlinkSync('y', scene.at('x'));
    scene.write({ 'y/z/z': 'deeper' });
    await scene.save();
    const third = remember(scene.mount);
    const states = [first, second, third];
    for (const seq of [1, 2, 3, 1, 3, 2, 1]) {
      await scene.restore(seq);
      expectSame(states[seq - 1]!, `after the restore of ${seq} the folder`);
    }
  });
});

describe('a folder in the place of a file', () => {
  interface Content {
    readonly what: string;
    readonly fill: (folder: string) => void;
    /** Why it cannot make way; none: it can. */
    readonly blocked?: true;
    readonly userOnly?: true;
  }
  const contents: readonly Content[] = [
    { what: 'an ignored file', fill: (folder) => writeFiles(folder, { 'deep/x.tmp': 'ignored' }) },
    { what: 'an ignored folder', fill: (folder) => writeFiles(folder, { 'build/deep/o': 'ignored', 'build/p': 'p' }) },
    { what: 'rules of its own', fill: (folder) => writeFiles(folder, { '.gitignore': '*', 'a/b': 'ignored' }) },
    { what: 'a file over the limit', fill: (folder) => writeFiles(folder, { large: 'x'.repeat(5000) }) },
    { what: 'a file named .git', fill: (folder) => writeFiles(folder, { '.git': 'gitdir: ../elsewhere\n' }) },
    { what: 'a secret', fill: (folder) => writeFiles(folder, { 'deep/.env': 'K=1' }), blocked: true },
    { what: 'a folder of secrets', fill: (folder) => writeFiles(folder, { '.ssh/id': 'K=1' }), blocked: true },
    { what: 'a pipe', fill: (folder) => makeFifo(join(folder, 'pipe')), blocked: true },
    {
      what: 'a repository',
      fill: (folder) => {
        createRepository(folder);
        commitFiles(folder, { f: 'mine' });
      },
      blocked: true,
    },
    {
      what: 'a repository further down',
      fill: (folder) => createRepository(join(folder, 'deep/repository')),
      blocked: true,
    },
    {
      what: 'an unreadable file',
      fill: (folder) => {
        writeFiles(folder, { no: 'no' });
        chmodSync(join(folder, 'no'), 0);
      },
      blocked: true,
      userOnly: true,
    },
    {
      what: 'an unreadable folder',
      fill: (folder) => {
        writeFiles(folder, { 'no/in': 'no' });
        chmodSync(join(folder, 'no'), 0);
      },
      blocked: true,
      userOnly: true,
    },
    {
      what: 'a read-only folder',
      fill: (folder) => {
        writeFiles(folder, { 'no/in': 'in' });
        chmodSync(join(folder, 'no'), 0o555);
      },
    },
  ];

  test.each(['file', 'link'] as const)(
    'that was a %s makes way only with a copy of all that it holds',
    async (kind) => {
      const scene = new Scene({ as: 'ordinary user' });
      scene.write({ '.gitignore': '*.tmp\nbuild/\n' });
      const name = ({ what }: Content): string => what.replace(/[ .]+/g, '-');
      scene.asUser(() => {
        for (const content of contents) make[kind](scene.at(name(content)), 'then');
      });
      await scene.save();
      await scene.run(['instance', 'set', 'max_file_size=4K']);
      scene.asUser(() => {
        for (const content of contents) {
          rmSync(scene.at(name(content)));
          mkdirSync(scene.at(name(content)));
          content.fill(scene.at(name(content)));
          writeFiles(scene.at(name(content)), { new: 'new' });
        }
      });
      const wasNow = remember(scene.mount, { withGit: true });
      const restored = await scene.restore(1, [], { code: 6 });
      const blocked = contents.filter((content) => content.blocked === true).map(name);
      expect(restored.data.failed.map(({ path }: { path: string }) => path).sort()).toEqual(blocked.sort());
      const { seq } = await scene.emergency();
      const copied = (await scene.json(['tree', String(seq)])).data.entries.map(({ path }: { path: string }) => path);
      for (const content of contents) {
        const path = name(content);
        expect(lstatSync(scene.at(path)).isDirectory(), content.what).toBe(content.blocked === true);
        expect(copied, content.what).toContain(`${path}/new`);
      }
      expect(await scene.content(seq, 'an-ignored-folder/build/deep/o')).toBe('ignored');
      expect([scene.read('a-secret/deep/.env'), scene.read('a-repository/f')]).toEqual(['K=1', 'mine']);
      await scene.undo();
      expectSame(wasNow);
    },
  );

  test('may be a new repository, which goes when that is asked for, and comes back whole', async () => {
    const scene = new Scene();
    scene.write({ x: 'file' });
    await scene.save();
    scene.remove('x');
    createRepository(scene.at('x'));
    commitFiles(scene.at('x'), { f: 'mine' });
    writeFiles(scene.at('x'), { 'not-committed': 'mine' });
    const wasNow = remember(scene.mount, { withGit: true });
    await scene.restore(1, ['--delete-new-repos']);
    expect(scene.read('x')).toBe('file');
    await scene.undo();
    expectSame(wasNow);
  });

  test('stays when nothing is to be deleted, unless it is empty', async () => {
    const scene = new Scene();
    scene.write({ x: 'file', y: 'file', z: 'file' });
    await scene.save();
    scene.remove('x', 'y', 'z');
    scene.write({ 'x/new': 'new' });
    mkdirSync(scene.at('y'));
    mkdirSync(scene.at('z/empty'), { recursive: true });
    const restored = await scene.restore(1, ['--no-delete'], { code: 6 });
    expect(Object.keys(keptReasons(restored))).toContain('x');
    expect([scene.read('x/new'), scene.read('y')]).toEqual(['new', 'file']);
  });

  test.skipIf(!isRoot)('makes way inside a folder that its owner may not write', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'd/x': 'file', 'd/y/in': 'in' });
    scene.asUser(() => chmodSync(scene.at('d'), 0o555));
    await scene.save();
    const wasThen = remember(scene.mount);
    scene.asUser(() => {
      chmodSync(scene.at('d'), 0o755);
      rmSync(scene.at('d/x'));
      rmSync(scene.at('d/y'), { recursive: true });
      writeFiles(scene.at('d'), { 'x/in/deep': 'in', y: 'flat' });
      for (const path of ['d/x/in', 'd/x', 'd']) chmodSync(scene.at(path), 0o555);
    });
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
  });
});

function isHeldByPipe(then: Kind, now: Kind): boolean {
  return now === 'pipe' && then !== 'pipe' && then !== 'nothing';
}

/** A line for each path. */
function look(root: string): Record<string, string> {
  const lines = walkTree(root).map((entry) => {
    const { path, type, mode, target } = entry;
    const content = type === 'file' ? readFileSync(join(root, path), 'utf8') : (target ?? '');
    return [path, `${type} ${mode.toString(8)} ${content}`] as const;
  });
  return Object.fromEntries(lines);
}

function replace(lines: Record<string, string>, path: string, by: Readonly<Record<string, string>>): void {
  const within = (other: string): boolean => other === path || other.startsWith(`${path}/`);
  for (const other of Object.keys(lines)) if (within(other)) Reflect.deleteProperty(lines, other);
  for (const [other, line] of Object.entries(by)) if (within(other)) lines[other] = line;
}
