import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName } from '../../src/core/ids.js';
import { type JournalRecord, encodeRecord } from '../../src/core/journal-record.js';
import { FileJournals } from '../../src/fs/journal.js';
import { tempDir } from '../support/temp.js';

const demo = 'demo' as InstanceName;
const code = (value: string): unknown => expect.objectContaining({ code: value });
const lent = (path: string): JournalRecord => ({
  kind: 'lent',
  mount: 'web' as MountName,
  path: path as EntryPath,
  mode: 0o555,
});
const change = (path: string): JournalRecord => ({
  kind: 'change',
  mount: 'web' as MountName,
  change: { path: path as EntryPath, action: 'delete', reason: '', before: null, after: null },
});
const records: JournalRecord[] = [
  change('a'),
  change('b'),
  { kind: 'planned', changes: 2 },
  lent('a\n\xff'),
  { kind: 'direction', direction: 'abort' },
];

function written(): { journals: FileJournals; folder: string; file: string } {
  const folder = tempDir();
  const journals = new FileJournals(folder);
  const journal = journals.create(demo);
  journal.append(records.slice(0, 3));
  journal.append(records.slice(3));
  journal.close();
  return { journals, folder, file: join(folder, 'demo.journal') };
}

describe('a journal', () => {
  test('is read as it was written, a line a record', () => {
    const { journals, file } = written();
    expect(journals.read(demo)).toEqual(records);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(records.length + 1);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
  });

  test('is there only while a restore is pending', () => {
    const { journals, folder } = written();
    expect(journals.pending()).toEqual([demo]);
    journals.reopen(demo).remove();
    expect([journals.pending(), journals.read(demo), readdirSync(folder)]).toEqual([[], undefined, []]);
  });

  test('is one an instance, and never a second one', () => {
    const { journals } = written();
    journals.create('alpha' as InstanceName).close();
    expect(journals.pending()).toEqual(['alpha', 'demo']);
    expect(() => journals.create(demo)).toThrow(code('EEXIST'));
    expect(journals.read(demo)).toEqual(records);
  });

  test.each(['of a new journal', 'of one that was opened again'])(
    'does not hold records %s that could not be made durable',
    (what) => {
      const { journals, folder } = written();
      const other = 'alpha' as InstanceName;
      const isNew = what === 'of a new journal';
      const journal = isNew ? journals.create(other) : journals.reopen(demo);
      const before = isNew ? [] : records;
      if (isNew) journal.append(before);
      renameSync(folder, `${folder}-elsewhere`);
      expect(() => {
        journal.append([lent('never'), { kind: 'done' }]);
      }).toThrow(code('ENOENT'));
      renameSync(`${folder}-elsewhere`, folder);
      expect(journals.read(isNew ? other : demo)).toEqual(before);
      journal.append([lent('c')]);
      expect(journals.read(isNew ? other : demo)).toEqual([...before, lent('c')]);
      journal.close();
    },
  );

  test('goes on where it ended', () => {
    const { journals } = written();
    const journal = journals.reopen(demo);
    journal.append([lent('b')]);
    journal.close();
    expect(journals.read(demo)).toEqual([...records, lent('b')]);
  });

  test('is none where its folder is missing', () => {
    const journals = new FileJournals(join(tempDir(), 'none'));
    expect([journals.pending(), journals.read(demo)]).toEqual([[], undefined]);
  });

  test('that cannot be read is an error, not the end of a restore', () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'demo.journal'));
    expect(() => new FileJournals(folder).read(demo)).toThrow(code('JOURNAL_DAMAGED'));
    expect(new FileJournals(folder).pending()).toEqual([demo]);
  });
});

describe('a torn last line was never acted on', () => {
  test('wherever it is torn: the records before it stand', () => {
    const { journals, file } = written();
    const ends = [0];
    const whole = readFileSync(file);
    whole.forEach((byte, at) => {
      if (byte === 0x0a) ends.push(at + 1);
    });
    for (let length = whole.length; length >= 0; length--) {
      truncateSync(file, length);
      const complete = ends.filter((end) => end <= length).length - 1;
      expect(journals.read(demo)).toEqual(records.slice(0, complete));
    }
  });

  test('and it is cut off before more is written', () => {
    const { journals, file } = written();
    truncateSync(file, readFileSync(file).length - 5);
    const journal = journals.reopen(demo);
    journal.append([{ kind: 'done' }]);
    journal.close();
    expect(journals.read(demo)).toEqual([...records.slice(0, -1), { kind: 'done' }]);
  });

  test('a journal of nothing but a torn line is one of no records', () => {
    const folder = tempDir();
    writeFileSync(join(folder, 'demo.journal'), 'cafe');
    const journals = new FileJournals(folder);
    expect(journals.read(demo)).toEqual([]);
    journals.reopen(demo).close();
    expect(readFileSync(join(folder, 'demo.journal'), 'utf8')).toBe('');
  });
});

describe('a line before the last that is not what was written is damage', () => {
  test('whichever bit of it is flipped', () => {
    const { journals, file } = written();
    const whole = readFileSync(file);
    const lastLine = whole.lastIndexOf(0x0a, whole.length - 2) + 1;
    for (let bit = 0; bit < lastLine * 8; bit++) {
      const spoilt = Buffer.from(whole);
      spoilt[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(file, spoilt);
      expect(() => journals.read(demo), `bit ${bit}`).toThrow(code('JOURNAL_DAMAGED'));
    }
  });

  test.each([
    { what: 'an empty line', spoil: (lines: string[]) => ['', ...lines] },
    {
      what: 'a line that is missing its checksum',
      spoil: (lines: string[]) => [encodeRecord({ kind: 'done' }), ...lines],
    },
    { what: 'a checksum that is too short', spoil: ([first = '', ...rest]: string[]) => [first.slice(1), ...rest] },
  ])('$what', ({ spoil }) => {
    const { journals, file } = written();
    writeFileSync(file, spoil(readFileSync(file, 'utf8').split('\n')).join('\n'));
    expect(() => journals.read(demo)).toThrow(code('JOURNAL_DAMAGED'));
    expect(existsSync(file)).toBe(true);
  });
});

test.runIf(process.getuid?.() !== 0)('a journal that may not be written fails the restore', () => {
  const { journals, file } = written();
  chmodSync(file, 0o400);
  expect(() => journals.reopen(demo)).toThrow(code('EACCES'));
});

test.each([
  { what: 'fewer changes than its plan says', kept: [change('a'), { kind: 'planned', changes: 2 }] },
  { what: 'none of them', kept: [{ kind: 'planned', changes: 1 }] },
  { what: 'more', kept: [change('a'), change('b'), { kind: 'planned', changes: 1 }] },
] satisfies { what: string; kept: JournalRecord[] }[])('a journal that holds $what is damaged', ({ kept }) => {
  const journals = new FileJournals(tempDir());
  const journal = journals.create(demo);
  journal.append(kept);
  journal.close();
  expect(() => journals.read(demo)).toThrow(code('JOURNAL_DAMAGED'));
});
