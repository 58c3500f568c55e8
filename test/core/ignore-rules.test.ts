import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import { ancestorsOf, isWithin, rootPath } from '../../src/core/entry-path.js';
import { IgnoreRules, patternSet } from '../../src/core/ignore-rules.js';

const path = (text: string): EntryPath => text as EntryPath;
const rulesOf = (content: string): IgnoreRules => IgnoreRules.none().with(rootPath, content);

describe('one file', () => {
  test.each([
    { content: 'foo', matched: ['foo', 'a/foo'], others: ['foo2', 'a/foo/b', 'Foo'] },
    { content: '/foo', matched: ['foo'], others: ['a/foo'] },
    { content: 'a/foo', matched: ['a/foo'], others: ['b/a/foo'] },
    { content: '*.o\n!keep.o', matched: ['x.o', 'a/.o'], others: ['keep.o', 'a/keep.o', 'x.oo'] },
    { content: '#x\n\\#x\n\\!y', matched: ['#x', '!y'], others: ['x', 'y'] },
    { content: 'x  \ny\\ \nz \\  ', matched: ['x', 'y ', 'z  '], others: ['x  ', 'y', 'z '] },
    { content: 'x\r\ny\r', matched: ['x', 'y'], others: ['x\r', 'y\r'] },
    { content: '\xef\xbb\xbfx', matched: ['x'], others: ['\xef\xbb\xbfx'] },
    { content: 'a\0b', matched: ['a'], others: ['ab'] },
    { content: 'a/**', matched: ['a/b', 'a/b/c'], others: ['a', 'b/a/c'] },
    { content: '**/a', matched: ['a', 'b/a', 'b/c/a'], others: ['ba'] },
    { content: 'a/**/b', matched: ['a/b', 'a/x/b', 'a/x/y/b'], others: ['ab', 'a/xb'] },
    { content: 'a**/b', matched: ['ab', 'a/b', 'ax/b', 'ax/y/b'], others: ['b', 'xa/b'] },
    { content: 'x/a**', matched: ['x/a', 'x/ab', 'x/ab/c'], others: ['x/ba'] },
    { content: '[a-c]?[!x]', matched: ['a1b', 'cx\xff'], others: ['a1x', 'd1b', 'a1'] },
    { content: '[[:digit:]]-[]-]', matched: ['1--', '1-]'], others: ['a--'] },
    { content: 'caf?', matched: ['caf\xe9'], others: ['caf\xc3\xa9'] },
    { content: '[a', matched: [], others: ['[a', 'a'] },
    { content: 'a\\', matched: [], others: ['a\\', 'a'] },
    { content: '/\n//\n!\n!/\n ', matched: [], others: ['a', ' '] },
    { content: 'a*/\\*', matched: ['ab/*'], others: ['ab/c'] },
    { content: '* x\n*\\ ', matched: ['1 x', '1 '], others: ['1'] },
  ])('$content', ({ content, matched, others }) => {
    const rules = rulesOf(content);
    expect(matched.filter((name) => rules.matches(path(name), false) !== 'ignored')).toEqual([]);
    expect(others.filter((name) => rules.matches(path(name), false) === 'ignored')).toEqual([]);
  });

  test('a trailing slash means directories', () => {
    const rules = rulesOf('a/\nb/c*/\nb\nb/');
    expect(rules.matches(path('a'), false)).toBe('none');
    expect(rules.matches(path('x/a'), true)).toBe('ignored');
    expect(rules.matches(path('b/cc'), false)).toBe('none');
    expect(rules.matches(path('b/cc'), true)).toBe('ignored');
    expect(rules.matches(path('b'), false)).toBe('ignored');
  });

  test('a name that is special to JavaScript is a name', () => {
    const rules = rulesOf('__proto__\nconstructor*');
    expect(rules.matches(path('__proto__'), false)).toBe('ignored');
    expect(rules.matches(path('constructor'), false)).toBe('ignored');
    expect(rules.matches(path('toString'), false)).toBe('none');
  });
});

describe('layers', () => {
  test('a deeper file wins, info/exclude comes last', () => {
    const rules = IgnoreRules.none()
      .with(rootPath, '*.tmp\nbuild')
      .with(rootPath, '!x.tmp')
      .with(path('sub'), '!build\n/only');
    expect(rules.matches(path('x.tmp'), false)).toBe('included');
    expect(rules.matches(path('y.tmp'), false)).toBe('ignored');
    expect(rules.matches(path('sub/build'), true)).toBe('included');
    expect(rules.matches(path('sub/build/x'), false)).toBe('none');
    expect(rules.matches(path('sub/only'), false)).toBe('ignored');
    expect(rules.matches(path('only'), false)).toBe('none');
    expect(rules.matches(path('build'), true)).toBe('ignored');
  });

  test('a file without patterns adds nothing', () => {
    const rules = rulesOf('x');
    expect(rules.with(path('a'), '# nothing\n\n')).toBe(rules);
  });

  test('an unreadable file leaves in doubt what deeper files do not decide', () => {
    const rules = rulesOf('*.tmp').withUnreadable(path('a')).with(path('a/b'), '*.log\n!*.txt');
    expect(rules.matches(path('x.tmp'), false)).toBe('ignored');
    expect(rules.matches(path('a/x'), false)).toBe('unknown');
    expect(rules.matches(path('a/x.tmp'), false)).toBe('unknown');
    expect(rules.matches(path('a/b/x.log'), false)).toBe('ignored');
    expect(rules.matches(path('a/b/x.txt'), false)).toBe('included');
  });
});

describe('what cannot be evaluated', () => {
  const monster = `*[${'a'.repeat(9000)}]`;

  test('leaves in doubt only what it could change', () => {
    const rules = rulesOf(`*.tmp\n${monster}`);
    expect(rules.matches(path('x.tmp'), false)).toBe('ignored');
    expect(rules.matches(path('x'), false)).toBe('unknown');
    const negated = rulesOf(`*.tmp\n!${monster}\nlast`);
    expect(negated.matches(path('x.tmp'), false)).toBe('unknown');
    expect(negated.matches(path('x'), false)).toBe('none');
    expect(negated.matches(path('last'), false)).toBe('ignored');
  });

  test('takes no time, and neither do patterns made to backtrack', () => {
    const patterns = [
      'a*'.repeat(120) + 'b',
      '*a'.repeat(400),
      '**/a/'.repeat(200) + 'b',
      'x/' + '*a?'.repeat(60) + '/y',
      '?'.repeat(5000),
      'z'.repeat(1_000_000),
      'a' + '*'.repeat(100_000) + 'b',
      '[[:alpha:]]*'.repeat(50),
    ];
    const rules = rulesOf(patterns.join('\n'));
    const deep = Array.from({ length: 500 }, () => 'a').join('/');
    for (const asked of ['a'.repeat(255), `x/${'a'.repeat(250)}/y`, deep])
      expect(rules.matches(path(asked), false)).not.toBe('included');
  });
});

describe('pattern sets', () => {
  test('read text as bytes and hold relative to the root', () => {
    const patterns = patternSet(['/caf\u00e9', '*.iso', '!keep.iso', 'a/b/*.c', 'q/**/z']);
    expect(patterns.matches(path('caf\xc3\xa9'), false)).toBe('ignored');
    expect(patterns.matches(path('x/keep.iso'), false)).toBe('included');
    expect(patterns.matches(path('x/y.iso'), false)).toBe('ignored');
    expect(patternSet([]).isEmpty).toBe(true);
  });

  test('know through which directories they lead', () => {
    const patterns = patternSet(['a/b/*.c', 'q/**/z', '*.log', '/top', 'lit/era/l', '**/any']);
    const through = ['a', 'a/b', 'q', 'q/r/s', 'lit', 'lit/era'];
    const notThrough = ['b', 'a/c', 'a/b/x.c', 'top', 'x', 'lit/era/l'];
    expect(through.filter((directory) => !patterns.leadsThrough(path(directory)))).toEqual([]);
    expect(notThrough.filter((directory) => patterns.leadsThrough(path(directory)))).toEqual([]);
  });
});

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
