import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import { rootPath } from '../../src/core/entry-path.js';
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
