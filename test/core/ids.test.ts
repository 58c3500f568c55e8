import { describe, expect, test } from 'vitest';

import {
  isSnapshotId,
  parseInstanceName,
  parseMountName,
  parseObjectId,
  slug,
  toSeq,
  zeroObjectId,
} from '../../src/core/ids.js';

describe.each([
  { kind: 'instance', parse: parseInstanceName },
  { kind: 'mount', parse: parseMountName },
])('the name of a $kind', ({ parse }) => {
  test.each(['a', '0', 'web', 'my-app_2.x', 'a.b', 'x'.repeat(100), 'lock', 'a.lockx', 'manifest.json'])(
    'may be %j',
    (input) => {
      expect(parse(input)).toBe(input);
    },
  );

  test.each([
    { input: '', why: 'it is empty' },
    { input: 'x'.repeat(101), why: 'it is too long' },
    { input: 'A', why: 'it has a capital' },
    { input: '.a', why: 'it begins with a dot' },
    { input: '-a', why: 'it looks like an option' },
    { input: '_a', why: 'it begins with an underscore' },
    { input: 'a/b', why: 'it is more than one component' },
    { input: 'a b', why: 'it has a blank' },
    { input: 'a\n', why: 'it ends with a newline' },
    { input: 'a:b', why: 'a colon separates mount and path' },
    { input: 'a~1', why: 'git reads "~" in a revision' },
    { input: 'a..b', why: 'no ref has ".."' },
    { input: '..', why: 'it leads up' },
    { input: 'a.', why: 'no ref ends with a dot' },
    { input: 'a.lock', why: 'git keeps ".lock" for itself' },
    { input: 'é', why: 'it is not ASCII' },
  ])('may not be $input, because $why', ({ input }) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

test.each([
  { text: '1', seq: 1 },
  { text: '10', seq: 10 },
  { text: '999999999999999', seq: 999_999_999_999_999 },
  { text: '0', seq: undefined },
  { text: '01', seq: undefined },
  { text: '-1', seq: undefined },
  { text: '+1', seq: undefined },
  { text: '1.0', seq: undefined },
  { text: '1e3', seq: undefined },
  { text: ' 1', seq: undefined },
  { text: '1\n', seq: undefined },
  { text: '', seq: undefined },
  { text: '1'.repeat(16), seq: undefined },
])('the number in $text is $seq', ({ text, seq }) => {
  expect(toSeq(text)).toBe(seq);
});

test.each([
  { text: '01KJMMA2QTMZ27P0NSGC0MPD44', known: true },
  { text: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', known: true },
  { text: '8ZZZZZZZZZZZZZZZZZZZZZZZZZ', known: false },
  { text: '01kjmma2qtmz27p0nsgc0mpd44', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD4', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD444', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD4I', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD4L', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD4O', known: false },
  { text: '01KJMMA2QTMZ27P0NSGC0MPD4U', known: false },
])('$text is a ULID: $known', ({ text, known }) => {
  expect(isSnapshotId(text)).toBe(known);
});

test('an object id is 40 lower-case hex digits and nothing else', () => {
  expect(parseObjectId(zeroObjectId)).toBe(zeroObjectId);
  for (const wrong of ['', 'a'.repeat(39), 'a'.repeat(41), 'A'.repeat(40), 'g'.repeat(40), `${'a'.repeat(40)}\n`])
    expect(() => parseObjectId(wrong)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
});

describe('a slug', () => {
  test.each([
    { text: 'My Project', made: 'my-project' },
    { text: 'web', made: 'web' },
    { text: '.config', made: 'config' },
    { text: '--x--', made: 'x' },
    { text: 'a...b', made: 'a.b' },
    { text: 'x.lock', made: 'x' },
    { text: 'x.lock.lock', made: 'x' },
    { text: 'x.', made: 'x' },
    { text: 'Crème brûlée', made: 'cr-me-br-l-e' },
    { text: '漢字', made: 'folder' },
    { text: '', made: 'folder' },
    { text: '...', made: 'folder' },
    { text: '/', made: 'folder' },
    { text: 'a\nb', made: 'a-b' },
    { text: 'x'.repeat(100), made: 'x'.repeat(20) },
    { text: `${'x'.repeat(15)}.lock-more`, made: 'x'.repeat(15) },
  ])('of $text is $made', ({ text, made }) => {
    expect(slug(text, 20)).toBe(made);
  });

  test('is a name at any length that it is cut to', () => {
    for (const text of ['my.lock.file..x.lock-a', '...a-._-b', 'ÄÖ-x..lock.', 'a.lock_.lock'])
      for (let limit = 1; limit < 24; limit++) expect(parseMountName(slug(text, limit))).toMatch(/^[a-z0-9]/);
  });
});
