import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import { ancestorsOf, isWithin } from '../../src/core/entry-path.js';
import { IgnoreRules } from '../../src/core/ignore-rules.js';

const path = (text: string): EntryPath => text as EntryPath;

describe('git gives the same answers', () => {
  let repository: string;
  beforeAll(() => {
    repository = mkdtempSync(join(tmpdir(), 'ignore-rules-'));
    execFileSync('git', ['init', '-q', repository]);
  });
  afterAll(() => rmSync(repository, { recursive: true, force: true }));

  const unit = fc.constantFrom(
    'a',
    'a',
    'b',
    'c',
    'ab',
    '.',
    '.a',
    ' ',
    '\\ ',
    '\\a',
    '\\*',
    '\\\\',
    '\\[',
    '\\',
    '\\/',
    '*',
    '*',
    '**',
    '***',
    '?',
    '/',
    '/',
    '/',
    '[ab]',
    '[!a]',
    '[^b]',
    '[a-c]',
    '[]a]',
    '[a/]',
    '[a-]',
    '[c-a]',
    '[[:alpha:]]',
    '[[:space:]x]',
    '[[:foo:]]',
    '[\\]a]',
    '[',
    ']',
    '[a-[:digit:]]',
    '[--0]',
    '!',
    '#',
    '\xe9',
    '\xff',
    '\xc3\xa9',
    '\r',
    '\t',
    '$',
    '+',
    '(',
    '{',
    '|',
    '^',
    '-',
    '~',
    '\x01',
    '\x85',
    '\xa0',
    '\v',
  );
  const line = fc
    .tuple(
      fc.constantFrom('', '', '', '', '!', '/', '**/', '#'),
      fc.array(unit, { maxLength: 7 }),
      fc.constantFrom('', '', '', '/', ' ', '  ', '\\ ', '\r', '/**', '/*', '**'),
    )
    .map(([start, units, end]) => start + units.join('') + end);
  const garbage = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const content = fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .tuple(
          fc.constantFrom('', '', '', '\xef\xbb\xbf'),
          fc.array(line, { maxLength: 5 }),
          fc.constantFrom('', '\n', '\r\n'),
        )
        .map(([start, lines, end]) => start + lines.join('\n') + end),
    },
    { weight: 1, arbitrary: garbage },
  );
  const name = fc
    .oneof(
      fc.constantFrom(
        'a',
        'b',
        'c',
        'ab',
        'ba',
        'abc',
        'a.b',
        '.a',
        'a ',
        ' a',
        '\\',
        '*',
        '[',
        ']',
        'a]',
        'a\\',
        '!',
        '#a',
        '!a',
        '-',
        '\xe9',
        '\xff',
        'caf\xc3\xa9',
        'a\r',
        '\t',
        'aaa',
        'x',
        '0',
        '^',
        '$',
        '+',
        '(',
        '{',
        '|',
        '~',
      ),
      fc
        .array(
          fc.constantFrom(
            'a',
            'b',
            'c',
            '.',
            ' ',
            '[',
            ']',
            '\\',
            '*',
            '?',
            '\xe9',
            '\xff',
            '\r',
            '\n',
            '\t',
            '!',
            '#',
            '-',
            '0',
            '\x01',
            '\x85',
            '\xa0',
            '\v',
          ),
          { minLength: 1, maxLength: 5 },
        )
        .map((parts) => parts.join('')),
    )
    .filter((text) => text !== '.' && text !== '..' && text !== '.git');
  const asked = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  const files = fc.record({ exclude: content, root: content, a: content, ab: content });

  /** What the walk would find out: parents first, and an ignored directory decides for all below. */
  function verdict(rules: (directory: string) => IgnoreRules, target: string, isDirectory: boolean): boolean {
    for (const ancestor of ancestorsOf(path(target))) {
      if (ancestor !== '' && rules(ancestor).matches(ancestor, true) === 'ignored') return true;
    }
    return rules(target).matches(path(target), isDirectory) === 'ignored';
  }

  function gitAnswers(paths: readonly string[]): Set<string> {
    const input = Buffer.from(paths.map((each) => `${each}\0`).join(''), 'latin1');
    // It exits 1 when nothing is ignored.
    const args = ['check-ignore', '--no-index', '-v', '-n', '-z', '--stdin'];
    const { stdout, stderr } = spawnSync('git', args, { cwd: repository, input });
    expect(stderr.toString()).toBe('');
    const output = stdout.toString('latin1').split('\0');
    const ignored = new Set<string>();
    for (let at = 0; at + 3 < output.length; at += 4) {
      const pattern = output[at + 2] ?? '';
      if (output[at] !== '' && !pattern.startsWith('!')) ignored.add(output[at + 3] ?? '');
    }
    return ignored;
  }

  const directories: ReadonlySet<string> = new Set(['a', 'a/b', 'a/b/c', 'a/c', 'c', 'c/c', 'ab', 'aaa']);

  test('for generated rules and paths', { timeout: 240_000 }, () => {
    for (const directory of directories) mkdirSync(join(repository, directory), { recursive: true });
    mkdirSync(join(repository, '.git/info'), { recursive: true });
    fc.assert(
      fc.property(files, fc.uniqueArray(asked, { minLength: 20, maxLength: 60 }), (contents, paths) => {
        const places = {
          '.git/info/exclude': contents.exclude,
          '.gitignore': contents.root,
          'a/.gitignore': contents.a,
          'a/b/.gitignore': contents.ab,
        };
        for (const [place, text] of Object.entries(places)) writeFileSync(join(repository, place), text, 'latin1');
        const layers: readonly (readonly [string, string])[] = [
          ['', contents.exclude],
          ['', contents.root],
          ['a', contents.a],
          ['a/b', contents.ab],
        ];
        const rules = (target: string): IgnoreRules =>
          layers
            .filter(
              ([directory]) => directory === '' || (target !== directory && isWithin(path(target), path(directory))),
            )
            .reduce((above, [directory, text]) => above.with(path(directory), text), IgnoreRules.none());
        const ignored = gitAnswers(paths);
        const wrong = paths.filter((each) => verdict(rules, each, directories.has(each)) !== ignored.has(each));
        expect(wrong).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });
});
