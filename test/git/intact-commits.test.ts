import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { IntactCommits } from '../../src/git/intact-commits.js';
import { tempDir } from '../support/temp.js';

const ids = [1, 2, 3, 4].map((digit) => String(digit).repeat(40) as ObjectId);
const [first, second, third, fourth] = ids as [ObjectId, ObjectId, ObjectId, ObjectId];

function scene() {
  const dataDir = tempDir('intact');
  const storeDirectory = join(dataDir, 'store.git');
  const packs = join(storeDirectory, 'objects/pack');
  mkdirSync(packs, { recursive: true });
  const pack = (name: string, content = 'pack'): void => writeFileSync(join(packs, `pack-${name}.pack`), content);
  pack('a');
  return {
    open: () => new IntactCommits({ dataDir, storeDirectory }),
    pack,
    lose: (name: string): void => rmSync(join(packs, `pack-${name}.pack`)),
    record: join(dataDir, 'cache/verified'),
  };
}

function known(commits: IntactCommits): string[] {
  return [...commits.known(commits.state())].sort();
}

test('adds a few lines to what there is, and nothing that is there', () => {
  const { open, pack, record } = scene();
  const commits = open();
  commits.add(commits.state(), [first, second]);
  const before = readFileSync(record, 'latin1');
  pack('b');
  commits.add(commits.state(), [second, third]);
  const after = readFileSync(record, 'latin1');
  expect(after.startsWith(before)).toBe(true);
  expect(after.slice(before.length)).toMatch(/^=pack\/pack-b\.pack .*\n3{40}\n$/);
  commits.add(commits.state(), [first]);
  expect(readFileSync(record, 'latin1')).toBe(after);
  expect(known(open())).toEqual([first, second, third]);
});

test('forgets all when something of what it saw is gone or is another, and begins anew', () => {
  const { open, pack, lose } = scene();
  pack('b');
  const commits = open();
  commits.add(commits.state(), [first]);
  pack('b', 'another one');
  expect(known(commits)).toEqual([]);
  commits.add(commits.state(), [second]);
  expect(known(commits)).toEqual([second]);
  lose('b');
  expect(known(open())).toEqual([]);
});

test('what others added in between is known, and stays', () => {
  const { open } = scene();
  const [one, other] = [open(), open()];
  one.add(one.state(), [first]);
  other.add(other.state(), [second]);
  one.add(one.state(), [third]);
  expect(known(one)).toEqual([first, second, third]);
  expect(known(other)).toEqual([first, second, third]);
});

test('adds nothing to a record that somebody made anew for fewer packs', () => {
  const { open, pack, lose } = scene();
  pack('b');
  const one = open();
  const then = one.state();
  one.add(then, [first]);
  lose('b');
  const other = open();
  other.add(other.state(), [second]);
  // Found while the pack was there: it says nothing of a store without it.
  one.add(then, [third]);
  expect(known(open())).not.toContain(third);
});

test.each([
  { what: 'a torn line', tail: fourth.slice(1) },
  { what: 'a line that is too long', tail: `${fourth}4\n` },
  { what: 'zeros', tail: '\0'.repeat(41) },
])('believes nothing of a record that ends in $what, and begins anew', ({ tail }) => {
  const { open, record } = scene();
  const commits = open();
  commits.add(commits.state(), [first]);
  appendFileSync(record, tail);
  expect(known(commits)).toEqual([]);
  expect(known(open())).toEqual([]);
  commits.add(commits.state(), [second]);
  expect(known(open())).toEqual([second]);
});

test('a record of ten thousand is read once for many questions', () => {
  const { open, record } = scene();
  const many = Array.from({ length: 10_000 }, (_, index) => index.toString(16).padStart(40, '0') as ObjectId);
  const commits = open();
  commits.add(commits.state(), many);
  const asked = open();
  const answer = asked.known(asked.state());
  expect(answer.size).toBe(many.length);
  expect(asked.known(asked.state())).toBe(answer);
  expect(statSync(record).size).toBeLessThan(500_000);
});
