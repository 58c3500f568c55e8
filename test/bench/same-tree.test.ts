import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectSameTree } from '../../bench/disk.js';
import { tempDir } from '../support/temp.js';

function makeTree(): string {
  const folder = tempDir();
  mkdirSync(join(folder, 'empty'));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/b/text'), 'some text\n');
  writeFileSync(join(folder, 'none'), '');
  symlinkSync('a/b', join(folder, 'link'));
  return folder;
}

test('two folders that hold the same are the same', () => {
  expect(() => expectSameTree(makeTree(), makeTree())).not.toThrow();
});

test.each([
  { what: 'a missing file', act: (at: string) => rmSync(join(at, 'none')), message: /names/ },
  {
    what: 'a missing empty folder',
    act: (at: string) => rmSync(join(at, 'empty'), { recursive: true }),
    message: /names/,
  },
  { what: 'one file more', act: (at: string) => writeFileSync(join(at, 'a/more'), ''), message: /names/ },
  {
    what: 'another content',
    act: (at: string) => writeFileSync(join(at, 'a/b/text'), 'some test\n'),
    message: /content/,
  },
  { what: 'another size', act: (at: string) => writeFileSync(join(at, 'a/b/text'), 'some'), message: /size/ },
  { what: 'another mode', act: (at: string) => chmodSync(join(at, 'a/b/text'), 0o755), message: /mode/ },
  { what: 'another mode of a folder', act: (at: string) => chmodSync(join(at, 'a/b'), 0o700), message: /mode/ },
  { what: 'another target', act: (at: string) => replaceWithLink(join(at, 'link'), 'a'), message: /target/ },
  {
    what: 'a link in place of a file',
    act: (at: string) => replaceWithLink(join(at, 'none'), 'a/b/text'),
    message: /mode/,
  },
])('$what is found', ({ act, message }) => {
  const found = makeTree();
  act(found);
  expect(() => expectSameTree(makeTree(), found)).toThrow(message);
});

function replaceWithLink(path: string, target: string): void {
  rmSync(path);
  symlinkSync(target, path);
}
