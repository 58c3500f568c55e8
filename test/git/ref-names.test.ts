import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

import type { InstanceName } from '../../src/core/ids.js';
import { refNames, snapshotNumbers } from '../../src/git/ref-names.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { preparedStore, publishSnapshot } from './fixture.js';

const id = '1'.repeat(40);
const other = `^${'2'.repeat(40)}\n`;
const packed = (...names: string[]): string =>
  `# pack-refs with: peeled fully-peeled sorted \n${names.map((name) => `${id} refs/jackin/${name}\n`).join('')}`;

test.each([
  { what: 'no store', files: {}, numbers: [] },
  { what: 'loose refs, by number and not by name', files: loose('t/10', 't/9', 't/1'), numbers: [1, 9, 10] },
  { what: 'packed refs', files: { 'packed-refs': packed('t/1', 't/2', 't/30') }, numbers: [1, 2, 30] },
  {
    what: 'both, one of them twice',
    files: { ...loose('t/2', 't/3'), 'packed-refs': packed('t/1', 't/2') },
    numbers: [1, 2, 3],
  },
  {
    what: 'damaged refs, whose numbers are used',
    files: { 'refs/jackin/t/4': '', 'refs/jackin/t/5': 'garbage', 'packed-refs': packed('t/1') },
    numbers: [1, 4, 5],
  },
  { what: 'locks, which are none', files: { ...loose('t/1'), 'refs/jackin/t/2.lock': '' }, numbers: [1] },
  {
    what: 'foreign names',
    files: {
      ...loose('t/07', 't/x', 't/1e3', 't/0', 't/-1', 't/6/7', 't/2', 'other/8', 't2/9', 't/9999999999999999'),
      'packed-refs': packed('other/11', 't/12/13', 't/x', 't2/14', 't/3').replace(/$/, `${id} refs/jackin-pin/t/15\n`),
    },
    numbers: [2, 3],
  },
  {
    what: 'peeled ids and a last line without its end',
    files: { 'packed-refs': `${packed('t/1')}${other}${id} refs/jackin/t/2` },
    numbers: [1, 2],
  },
  { what: 'a file in the place of the folder', files: { 'refs/jackin/t': id, 'packed-refs': packed() }, numbers: [] },
])('the numbers with $what: $numbers', ({ files, numbers }) => {
  const store = join(tempDir('store'), 'store.git');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(store, path)), { recursive: true });
    writeFileSync(join(store, path), content);
  }
  expect(snapshotNumbers(store, 't' as InstanceName)).toEqual(numbers);
});

test('the numbers are those of the snapshots, wherever git keeps their refs', async () => {
  const { store, dataDir, directory } = await preparedStore();
  for (let seq = 1; seq <= 5; seq++) await publishSnapshot(store, seq, { a: `${seq}` });
  storeGit(dataDir, ['pack-refs', '--all']);
  for (const seq of [6, 7]) await publishSnapshot(store, seq, { a: `${seq}` });
  storeGit(dataDir, ['update-ref', '-d', 'refs/jackin/t/2']);
  storeGit(dataDir, ['update-ref', '-d', 'refs/jackin/t/6']);
  storeGit(dataDir, ['update-ref', 'refs/jackin/t/9/deep', 'refs/jackin/t/1']);
  const numbers = snapshotNumbers(directory, 't' as InstanceName);
  expect(numbers).toEqual([1, 3, 4, 5, 7]);
  expect((await store.snapshots('t' as InstanceName)).map(({ seq }) => seq)).toEqual(numbers);
});

test('names below a prefix are those that git lists and those that it passes over', async () => {
  const { store, dataDir, directory } = await preparedStore();
  expect(refNames(directory, 'refs/')).toEqual([]);
  for (const seq of [1, 2, 3]) await publishSnapshot(store, seq, { a: `${seq}` });
  storeGit(dataDir, ['update-ref', 'refs/jackin-pin/t/1', 'refs/jackin/t/1']);
  storeGit(dataDir, ['pack-refs', '--all']);
  storeGit(dataDir, ['update-ref', 'refs/jackin-pin/t/3', 'refs/jackin/t/3']);
  writeFileSync(join(directory, 'refs/jackin-pin/t/2'), 'garbage');
  writeFileSync(join(directory, 'refs/jackin-pin/t/4.lock'), '');
  for (const prefix of ['refs/', 'refs/jackin/', 'refs/jackin-pin/', 'refs/replace/']) {
    const listed = (await store.refs(prefix)).map(({ name }) => name);
    expect(refNames(directory, prefix).sort()).toEqual([...listed, ...(await store.unreadableRefs(prefix))].sort());
  }
  expect(store.refNames('refs/jackin-pin/').sort()).toEqual([1, 2, 3].map((seq) => `refs/jackin-pin/t/${seq}`));
});

function loose(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`refs/jackin/${name}`, `${id}\n`]));
}
