import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseConfig } from '../../src/git/user-repo/config-file.js';
import { tempDir } from '../support/temp.js';
import { userGit } from '../support/user-git.js';

test.each([
  {
    text: '[branch "main"]\n\tremote = origin\n',
    section: 'branch',
    subsection: 'main',
    key: 'remote',
    value: 'origin',
  },
  { text: '[Core]\nFileMode=false # no\n', section: 'core', subsection: null, key: 'filemode', value: 'false' },
  { text: '[a]b\n[a]b=c', section: 'a', subsection: null, key: 'b', value: 'c' },
  { text: '[a]b', section: 'a', subsection: null, key: 'b', value: 'true' },
  { text: '[a "x\\"y\\\\z"]k = " v "  ; c', section: 'a', subsection: 'x"y\\z', key: 'k', value: ' v ' },
  { text: '[a]k = one \\\n two\\t\n', section: 'a', subsection: null, key: 'k', value: 'one  two\t' },
  { text: '[a.B]k=v\r\n', section: 'a', subsection: 'b', key: 'k', value: 'v' },
  { text: '\xef\xbb\xbf[a]k=\xff', section: 'a', subsection: null, key: 'k', value: '\xff' },
])('$text', ({ text, section, subsection, key, value }) => {
  expect(parseConfig(text)?.get(section, subsection, key)).toBe(value);
});

test.each(['k = v', '[a', '[a]=v', '[a]k = "v', '[a]k = \\x', '[a "b]k=v', '[a "b\nc"]k=v', '[]k=v', '[a]1k=v'])(
  'refuses %j',
  (text) => {
    expect(parseConfig(text)).toBeUndefined();
  },
);

test('takes no time over a file made to backtrack', () => {
  for (const piece of ['"a', '\\\\', '"" ', 'a \\n ', ' ', '[a', '"\\', ';', '\n;']) {
    for (const start of ['[a]k=', '']) expect(() => parseConfig(start + piece.repeat(300_000))).not.toThrow();
  }
});

test('git reads the same', { timeout: 120_000 }, () => {
  const file = join(tempDir(), 'config');
  const value = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        ' ',
        '"',
        '"q q"',
        '\\n',
        '\\"',
        '\\\\',
        '\\\n',
        '#',
        ';',
        '=',
        '[',
        ']',
        '\xe9',
        '\\x',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));
  const line = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('k', 'K', 'other', 'k-2', '1', ' k'),
        fc.constantFrom('=', ' = ', '', ' '),
        value,
        fc.constantFrom('\n', '\r\n', ''),
      )
      .map((parts) => parts.join('')),
    fc.constantFrom(
      '[a]\n',
      '[a "b"]\n',
      '[A "B"]',
      '[a.C]\n',
      '# c\n',
      ';c\n',
      '\n',
      '  ',
      '[a "x\\"y"] ',
      '[a "b" ]\n',
      '[a ]\n',
      '[a "b"c]\n',
    ),
  );
  const content = fc.array(line, { maxLength: 8 }).map((lines) => `[a]\n${lines.join('')}`);
  fc.assert(
    fc.property(content, (text) => {
      writeFileSync(file, text, 'latin1');
      const run = userGit('/', ['config', '--file', file, '--no-includes', '-z', '--list'], { mayFail: true });
      const config = parseConfig(text);
      expect(config === undefined).toBe(run.code !== 0);
      const last = new Map<string, string>();
      for (const entry of run.stdoutBytes.toString('latin1').split('\0').slice(0, -1)) {
        const end = entry.indexOf('\n');
        if (end < 0) last.set(entry, 'true');
        else last.set(entry.slice(0, end), entry.slice(end + 1));
      }
      if (config === undefined) return;
      for (const [key, wanted] of last) {
        const [, section = '', subsection = null, name = ''] = /^([^.]*)(?:\.([^]*))?\.([^.]*)$/.exec(key) ?? [];
        expect({ key, value: config.get(section, subsection, name) }).toEqual({ key, value: wanted });
      }
    }),
    { numRuns: 400 },
  );
});
