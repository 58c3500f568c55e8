import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import * as isomorphic from 'isomorphic-git';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { NameFacts } from '../../src/core/name-escape.js';
import { escapeName, unescapeName } from '../../src/core/name-escape.js';
import { isSnapError } from '../../src/errors.js';

const file: NameFacts = { kind: 'file', size: 10 };
const symlink: NameFacts = { kind: 'symlink', size: 10 };
const directory: NameFacts = { kind: 'directory', size: 0 };
const everyFacts: readonly NameFacts[] = [file, symlink, directory, { kind: 'file', size: 2048 }];

describe('what needs no escape', () => {
  test.each([
    'a',
    'a.txt',
    '.gitignore',
    '.gitkeep',
    '.github',
    'x.git',
    'a~',
    '#a~1#',
    '%41',
    '100%',
    '\xff\xfe',
    '.gitattributes',
    '.mailmap',
    ' a',
    '-rf',
    '.g',
    'git',
  ])('stores %j as it is', (name) => expect(escapeName(name, file)).toBe(name));

  test.each([
    [' ', '%20'],
    ['  :x', '%20 :x'],
    ['%20', '%2520'],
    ['%20 :x', '%2520 :x'],
  ])('stores %j, which isomorphic-git takes for no name, as %j', (name, stored) => {
    expect(escapeName(name, file)).toBe(stored);
    expect(unescapeName(stored)).toBe(name);
  });
});

describe('what is escaped whatever it is', () => {
  test.each([
    ['.git', '%2egit'],
    ['.GIT', '%2eGIT'],
    ['.git ', '%2egit '],
    ['.git.', '%2egit%2e'],
    ['.git. .', '%2egit%2e %2e'],
    ['.git::$INDEX_ALLOCATION', '%2egit::$INDEX_ALLOCATION'],
    ['.g\xe2\x80\x8cit', '%2eg\xe2\x80\x8cit'],
    ['\xef\xbb\xbf.git', '\xef\xbb\xbf%2egit'],
    ['.git\xff', '%2egit\xff'],
    ['git~1', 'git%7e1'],
    ['GIT~2', 'GIT%7e2'],
    ['a\\..\\b', 'a%5c%2e%2e%5cb'],
    ['a\\.git', 'a%5c%2egit'],
    ['.gitmodules', '%2egitmodules'],
    ['.GitModules . ', '%2eGitModules %2e '],
    ['gitmod~1', 'gitmod%7e1'],
    ['gi7eba~9', 'gi7eba%7e9'],
    ['gi7e~123', 'gi7e%7e123'],
    ['~1234567', '%7e1234567'],
    ['gi250a~1', 'gi250a%7e1'],
    ['maba30~1', 'maba30%7e1'],
    ['...', '%2e%2e%2e'],
    [' .', ' %2e'],
    ['%2egit', '%252egit'],
    ['a%25b.c~', 'a%2525b%2ec%7e'],
  ])('stores %j as %j', (name, stored) => {
    for (const facts of everyFacts) expect(escapeName(name, facts)).toBe(stored);
    expect(unescapeName(stored)).toBe(name);
  });
});

describe('what is escaped only where git questions it', () => {
  test.each([
    { name: '.gitattributes', facts: { kind: 'file', size: 2047 } as const, stored: '.gitattributes' },
    { name: '.gitattributes', facts: { kind: 'file', size: 2048 } as const, stored: '%2egitattributes' },
    { name: '.gitattributes', facts: symlink, stored: '%2egitattributes' },
    { name: '.GITATTRIBUTES.', facts: directory, stored: '%2eGITATTRIBUTES%2e' },
    { name: '.gitignore', facts: symlink, stored: '%2egitignore' },
    { name: '.gitignore', facts: directory, stored: '.gitignore' },
    { name: '.mailmap', facts: symlink, stored: '%2emailmap' },
  ])('$name as $facts', ({ name, facts, stored }) => {
    expect(escapeName(name, facts)).toBe(stored);
    expect(unescapeName(stored)).toBe(name);
  });
});

describe('what is no stored form', () => {
  test.each([
    '.git',
    '.GIT ',
    '%2e',
    '%2e%2e',
    '.',
    '..',
    '',
    'a/b',
    'a\0',
    'foo%2etxt',
    '%2egit.',
    'git~1',
    'a\\b',
    '%252x',
    '%25',
    '%2egit%2f..',
  ])('refuses %j', (stored) => {
    expect(() => unescapeName(stored)).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }));
  });

  test('takes what only looks like a code for an ordinary name', () => {
    expect(unescapeName('%2Egit')).toBe('%2Egit');
  });
});

const ignorable = ['\xe2\x80\x8c', '\xe2\x80\xae', '\xe2\x81\xaf', '\xef\xbb\xbf'];
const pieces = [
  '.',
  '.',
  'git',
  'GIT',
  'g',
  'it',
  'modules',
  'attributes',
  'ignore',
  'mailmap',
  'gitmod',
  'gi7eba',
  'gi7d',
  'maba30',
  '~',
  '~1',
  '~4',
  '\\',
  ':',
  ' ',
  '%',
  '%2e',
  '%25',
  '2e',
  '\xff',
  '\xc3',
  'x',
  ...ignorable,
];
const nastyName = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))
  .filter((name) => name !== '.' && name !== '..');
const dotted = fc
  .tuple(
    fc.constantFrom('.git', '.gitmodules', '.gitattributes', '.gitignore', '.mailmap', 'git~1', 'gitmod~2', 'gi7d29~1'),
    fc.nat(),
    fc.constantFrom(...ignorable, '.', ' ', ':', '\xff', ''),
  )
  .map(([name, at, extra]) => name.slice(0, at % (name.length + 1)) + extra + name.slice(at % (name.length + 1)));
const byteName = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'))
  .filter((name) => !/[\0/]/.test(name) && name !== '.' && name !== '..');
const anyName = fc.oneof(nastyName, dotted, byteName);
const anyFacts = fc.constantFrom(...everyFacts);

test('unescaping gives back what was escaped', () => {
  fc.assert(
    fc.property(anyName, anyFacts, (name, facts) => {
      expect(unescapeName(escapeName(name, facts))).toBe(name);
    }),
    { numRuns: 20_000 },
  );
});

test('a stored form belongs to one name only, and anything else is refused', () => {
  fc.assert(
    fc.property(anyName, (stored) => {
      let name: string;
      try {
        name = unescapeName(stored);
      } catch (error) {
        expect(isSnapError(error, 'STORE_DAMAGED')).toBe(true);
        return;
      }
      expect(everyFacts.map((facts) => escapeName(name, facts))).toContain(stored);
    }),
    { numRuns: 20_000 },
  );
});

describe('git itself', () => {
  let store: string;
  beforeEach(() => {
    store = mkdtempSync(join(tmpdir(), 'name-escape-'));
    git(['init', '-q', '--bare', '.']);
  });
  afterEach(() => rmSync(store, { recursive: true, force: true }));

  test('finds nothing to say about trees of escaped names, and isomorphic-git reads them', async () => {
    const content = {
      small: blob(Buffer.from('x\n')),
      large: blob(Buffer.from('y'.repeat(2048))),
      submodules: blob(Buffer.from('[submodule "x"]\n\tpath = x\n\turl = -u./payload\n')),
    };
    const below = tree([{ mode: '100644', name: 'x', oid: content.small }]);
    const names = fc.sample(fc.tuple(anyName, anyFacts), { numRuns: 6_000, seed: 7 });
    const entries = new Map<string, TreeEntry>();
    for (const [name, facts] of names) {
      // isomorphic-git refuses names that are nothing but blanks. git takes them as they are, and so do we.
      const beforeColon = name.replace(/\xe2\x80[\x8c\xae]|\xe2\x81\xaf|\xef\xbb\xbf/g, '').replace(/:[^]*/, '');
      if (/^ +$/.test(beforeColon)) continue;
      const stored = escapeName(name, facts);
      const oid =
        facts.kind === 'directory'
          ? below
          : facts.size >= 2048
            ? content.large
            : name.toLowerCase().includes('modules')
              ? content.submodules
              : content.small;
      entries.set(stored, {
        mode: { file: '100644', symlink: '120000', directory: '40000' }[facts.kind],
        name: stored,
        oid,
      });
    }
    const whole = tree([...entries.values()]);
    commit(whole);
    expect(git(['fsck', '--strict', '--no-dangling']).toString()).toBe('');
    expect(entries.size).toBeGreaterThan(3_000);
    expect((await isomorphic.readTree({ fs, gitdir: store, oid: whole })).tree).toHaveLength(entries.size);
  });

  test('would object to the names as they are', () => {
    commit(tree([{ mode: '100644', name: '.git\xff', oid: blob(Buffer.from('x')) }]));
    expect(() => git(['fsck', '--strict'])).toThrow(/hasDotgit/);
  });

  interface TreeEntry {
    readonly mode: string;
    readonly name: string;
    readonly oid: string;
  }

  function git(args: string[], input?: Buffer): Buffer {
    return execFileSync('git', args, { cwd: store, stdio: ['pipe', 'pipe', 'pipe'], ...(input ? { input } : {}) });
  }

  function blob(content: Buffer): string {
    return git(['hash-object', '-w', '--stdin', '--literally', '-t', 'blob'], content).toString().trim();
  }

  function tree(entries: readonly TreeEntry[]): string {
    const order = (entry: TreeEntry): string => (entry.mode === '40000' ? `${entry.name}/` : entry.name);
    const sorted = [...entries].sort((a, b) => (order(a) < order(b) ? -1 : 1));
    const content = Buffer.concat(
      sorted.map((entry) =>
        Buffer.concat([Buffer.from(`${entry.mode} ${entry.name}\0`, 'latin1'), Buffer.from(entry.oid, 'hex')]),
      ),
    );
    return git(['hash-object', '-w', '--stdin', '--literally', '-t', 'tree'], content).toString().trim();
  }

  function commit(treeId: string): void {
    const identity = 'A <a@b> 1 +0000';
    const content = Buffer.from(`tree ${treeId}\nauthor ${identity}\ncommitter ${identity}\n\nm\n`);
    const id = git(['hash-object', '-w', '--stdin', '-t', 'commit'], content).toString().trim();
    git(['update-ref', 'refs/heads/main', id]);
  }
});
