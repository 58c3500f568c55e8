import { describe, expect, test } from 'vitest';

import {
  type EntryPath,
  Inherited,
  ancestorsOf,
  baseName,
  bytesOfText,
  displayPath,
  isWithin,
  joinPath,
  parentPath,
  parseEntryPath,
  pathFromJson,
  pathToJson,
  textOfBytes,
} from '../../src/core/entry-path.js';

describe('a path within a mount', () => {
  test.each([
    { input: '/etc', component: '' },
    { input: 'a/', component: '' },
    { input: 'a//b', component: '' },
    { input: '/', component: '' },
    { input: '.', component: '.' },
    { input: 'a/./b', component: '.' },
    { input: '..', component: '..' },
    { input: 'a/../b', component: '..' },
    { input: 'a/b/..', component: '..' },
    { input: 'a\0b', component: 'a\0b' },
    { input: '\0', component: '\0' },
  ])('is not $input, because of the component $component', ({ input, component }) => {
    expect(() => parseEntryPath(input)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(JSON.stringify(component)) }),
    );
  });

  test.each([
    '',
    'a',
    'a/b',
    '...',
    '.hidden',
    'a/..b/c..',
    '-rf',
    ' ',
    'x\ny',
    '\xff\xfe',
    '*?[]',
    'C:\\a',
    'a'.repeat(5000),
  ])('is %j', (input) => {
    expect(parseEntryPath(input)).toBe(input);
  });
});

describe('the parts of a path', () => {
  test.each([
    { path: '', parent: '', name: '', ancestors: [] },
    { path: 'a', parent: '', name: 'a', ancestors: [''] },
    { path: 'a/b', parent: 'a', name: 'b', ancestors: ['', 'a'] },
    { path: 'a/b/c.d', parent: 'a/b', name: 'c.d', ancestors: ['', 'a', 'a/b'] },
  ])('of "$path"', ({ path, parent, name, ancestors }) => {
    const parsed = parseEntryPath(path);
    expect([parentPath(parsed), baseName(parsed), [...ancestorsOf(parsed)]]).toEqual([parent, name, ancestors]);
    if (path !== '') expect(joinPath(parentPath(parsed), baseName(parsed))).toBe(path);
  });

  test.each([
    { path: 'a', ancestor: '', within: true },
    { path: '', ancestor: '', within: true },
    { path: 'a', ancestor: 'a', within: true },
    { path: 'a/b', ancestor: 'a', within: true },
    { path: 'ab', ancestor: 'a', within: false },
    { path: 'a.b', ancestor: 'a', within: false },
    { path: 'a', ancestor: 'a/b', within: false },
    { path: '', ancestor: 'a', within: false },
  ])('"$path" within "$ancestor": $within', ({ path, ancestor, within }) => {
    expect(isWithin(path as EntryPath, ancestor as EntryPath)).toBe(within);
  });
});

test('what is inherited comes from the nearest path at or above, and each path is asked once', () => {
  const own = new Map([
    ['a', 'outer'],
    ['a/b/c', 'inner'],
  ]);
  const asked: string[] = [];
  const inherited = new Inherited<string>((path) => {
    asked.push(path);
    return own.get(path);
  });
  const answers = ['a/b/c/d', 'a/b', 'a/b/x', 'z', '', 'a/b/c'].map((path) => inherited.at(path as EntryPath));
  expect(answers).toEqual(['inner', 'outer', 'outer', undefined, undefined, 'inner']);
  expect(asked).toEqual([...new Set(asked)]);
});

describe('bytes and text', () => {
  test.each([
    { bytes: 'plain', text: 'plain' },
    { bytes: '\xc3\xa9', text: 'é' },
    { bytes: '\xf0\x9f\x98\x80', text: '😀' },
    { bytes: '\xef\xbb\xbfx', text: '\ufeffx' },
    { bytes: '\xe9', text: undefined },
    { bytes: '\xc3', text: undefined },
    { bytes: '\xc0\xaf', text: undefined },
    { bytes: '\xed\xa0\x80', text: undefined },
    { bytes: '\xf4\x90\x80\x80', text: undefined },
    { bytes: 'a\xffb', text: undefined },
  ])('$bytes is the text $text', ({ bytes, text }) => {
    expect(textOfBytes(bytes)).toBe(text);
    if (text !== undefined) expect(bytesOfText(text)).toBe(bytes);
  });

  test.each([
    { bytes: '', json: '' },
    { bytes: 'a b', json: 'a b' },
    { bytes: '\xc3\xa9', json: 'é' },
    { bytes: '\xef\xbf\xbd', json: '\ufffd' },
    { bytes: '\xff', json: { base64: '/w==' } },
    { bytes: 'a/\xe9/b', json: { base64: 'YS/pL2I=' } },
    { bytes: '\xed\xa0\x80', json: { base64: '7aCA' } },
  ])('$bytes in JSON', ({ bytes, json }) => {
    expect(pathToJson(bytes)).toEqual(json);
    expect(pathFromJson(JSON.parse(JSON.stringify(pathToJson(bytes))))).toBe(bytes);
  });

  test('every byte pair survives JSON', () => {
    for (let high = 0; high < 256; high++) {
      const bytes = Array.from({ length: 256 }, (_, low) => String.fromCharCode(high, low)).join('/');
      expect(pathFromJson(pathToJson(bytes))).toBe(bytes);
    }
  });
});

describe('a path shown to people', () => {
  test.each([
    { what: 'plain text', bytes: 'a b/c', shown: 'a b/c' },
    { what: 'letters of any script', bytes: bytesOfText('naïve/漢字/😀'), shown: 'naïve/漢字/😀' },
    { what: 'a newline', bytes: 'a\nb', shown: 'a\\nb' },
    { what: 'a tab and a return', bytes: 'a\tb\rc', shown: 'a\\tb\\rc' },
    { what: 'an escape sequence', bytes: '\x1b[2Jx', shown: '\\x1b[2Jx' },
    { what: 'a bell and a delete', bytes: '\x07\x7f', shown: '\\x07\\x7f' },
    { what: 'a C1 control (CSI)', bytes: bytesOfText('\u009b31m'), shown: '\\u{9b}31m' },
    { what: 'a bidi override', bytes: bytesOfText('exe\u202etxt'), shown: 'exe\\u{202e}txt' },
    { what: 'bidi isolates', bytes: bytesOfText('\u2066a\u2069'), shown: '\\u{2066}a\\u{2069}' },
    { what: 'a left-to-right mark', bytes: bytesOfText('a\u200eb'), shown: 'a\\u{200e}b' },
    { what: 'an Arabic letter mark', bytes: bytesOfText('\u061c'), shown: '\\u{61c}' },
    { what: 'a zero-width space and a BOM', bytes: bytesOfText('\u200b\ufeff'), shown: '\\u{200b}\\u{feff}' },
    { what: 'line and paragraph separators', bytes: bytesOfText('\u2028\u2029'), shown: '\\u{2028}\\u{2029}' },
    { what: 'a tag character', bytes: bytesOfText('\u{e0041}'), shown: '\\u{e0041}' },
    { what: 'bytes that are not UTF-8', bytes: 'caf\xe9\n', shown: 'caf\\xe9\\x0a' },
    { what: 'UTF-8 in a name that is not all UTF-8', bytes: '\xc3\xa9\xff', shown: '\\xc3\\xa9\\xff' },
  ])('escapes $what', ({ bytes, shown }) => {
    expect(displayPath(bytes)).toBe(shown);
  });

  test('never steers a terminal, whatever two bytes it holds', () => {
    for (let high = 0; high < 256; high++)
      for (let low = 0; low < 256; low++)
        if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(displayPath(String.fromCharCode(high, low))))
          expect.unreachable(`${high} ${low}`);
    expect(displayPath('\x1b')).toBe('\\x1b');
  });
});
