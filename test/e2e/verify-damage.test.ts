import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CheckResult } from '../../src/index.js';
import { removeTree } from '../support/remove-tree.js';
import { randomFrom } from '../support/random.js';
import { testSeed } from '../support/seed.js';
import { storeGit } from '../support/store-git.js';
import { makeTempDir, tempDir } from '../support/temp.js';
import {
  type Layout,
  type StoreCopy,
  copyOf,
  filesBelow,
  flip,
  idOf,
  layouts,
  lostToGit,
  packsIn,
  placesOf,
  savedFiveTimes,
  snapOver,
} from './damaged-store.js';

let area: string;
let saved: string;

beforeAll(async () => {
  area = makeTempDir('damage');
  saved = await savedFiveTimes(area);
});

afterAll(() => removeTree(area));

const copy = (layout: Layout): StoreCopy => copyOf(saved, join(tempDir('copy'), 'data'), layout);
const numbers = ({ damaged }: CheckResult): number[] => damaged.map(({ snapshot }) => snapshot.seq);

/** What a check says must be what stock git can read, no more and no less. */
async function expectNamed(store: StoreCopy): Promise<{ full: CheckResult; part: CheckResult; lost: number[] }> {
  const lost = lostToGit(store);
  const full = await snapOver(store.dataDir).verify({ full: true });
  const part = await snapOver(store.dataDir).verify({ percent: 100 });
  expect(numbers(full), JSON.stringify(full.problems)).toEqual(lost);
  expect(numbers(part), JSON.stringify(part.problems)).toEqual(lost);
  expect(full.ok).toBe(false);
  expect(part.ok).toBe(lost.length === 0);
  return { full, part, lost };
}

const objects = [
  { what: "a snapshot's own file", name: 'refs/jackin/t/2:mounts/m/own/2', lost: [2], path: 'own/2' },
  { what: 'a file that all share', name: 'refs/jackin/t/2:mounts/m/same/a', lost: [1, 2, 3, 4, 5], path: 'same/a' },
  { what: "a directory's tree", name: 'refs/jackin/t/3:mounts/m/own', lost: [3], path: 'own' },
  { what: "a mount's tree", name: 'refs/jackin/t/3:mounts/m', lost: [3], path: '' },
  { what: 'the whole tree', name: 'refs/jackin/t/3^{tree}', lost: [3], path: '' },
  { what: 'a commit', name: 'refs/jackin/t/4', lost: [4], path: undefined },
  { what: 'a manifest', name: 'refs/jackin/t/4:meta/manifest.json', lost: [4], path: 'meta/manifest.json' },
  { what: 'attributes', name: 'refs/jackin/t/5:meta/mounts/m/attributes', lost: [5], path: 'meta/mounts/m/attributes' },
  { what: 'observations', name: 'refs/jackin/t/5:meta/mounts/m/observed', lost: [5], path: 'meta/mounts/m/observed' },
];

describe.each(layouts)('with bits flipped, %s', (layout) => {
  test.each(objects)('in $what: these snapshots are named, no others', async ({ name, lost, path }) => {
    const store = copy(layout);
    // What is remembered of it says that it is sound.
    expect(await snapOver(store.dataDir).verify({ full: true })).toMatchObject({ ok: true, damaged: [], problems: [] });
    const id = idOf(store, name);
    for (const { path: file, start, end } of placesOf(store, id)) flip(file, Math.floor((start + end) / 2));
    const named = await expectNamed(store);
    // Where there are deltas, more may be lost than was hit.
    expect(named.lost).toEqual(layout === 'one pack' ? (expect.arrayContaining(lost) as number[]) : lost);
    const paths = named.full.damaged.find(({ snapshot }) => snapshot.seq === lost[0])?.paths;
    if (path !== undefined && layout !== 'one pack') expect(paths?.map((each) => each.path)).toContain(path);
  });
});

describe('a pack', () => {
  test.each<{ what: string; harm: (pack: string) => void }>([
    { what: 'cut short', harm: (pack) => truncateSync(pack, 200) },
    { what: 'emptied', harm: (pack) => truncateSync(pack, 0) },
    { what: 'of zeros in its middle', harm: (pack) => zero(pack, 100, 400) },
    { what: 'with another head', harm: (pack) => flip(pack, 0) },
    { what: 'with another end', harm: (pack) => flip(pack, readFileSync(pack).length - 1) },
    { what: 'gone', harm: (pack) => rmSync(pack) },
    { what: 'gone with its index', harm: (pack) => [pack, index(pack)].forEach((path) => rmSync(path)) },
    { what: 'without its index', harm: (pack) => rmSync(index(pack)) },
    { what: 'with an index cut short', harm: (pack) => truncateSync(index(pack), 1100) },
    { what: 'with an empty index', harm: (pack) => truncateSync(index(pack), 0) },
    { what: 'with an index of another kind', harm: (pack) => writeFileSync(index(pack), 'x'.repeat(2000)) },
    { what: 'with an id changed in its index', harm: (pack) => flip(index(pack), 8 + 1024 + 25) },
    { what: 'with a place changed in its index', harm: (pack) => flip(index(pack), placesIn(index(pack)) + 3, 3) },
    { what: 'with another end of its index', harm: (pack) => flip(index(pack), readFileSync(index(pack)).length - 1) },
  ])('$what: the snapshots that need it are named, no others', async ({ harm }) => {
    for (const which of [1, 4]) {
      const store = copy('packs');
      harm(packsIn(store.objects)[which]!);
      const lost = lostToGit(store);
      const full = await snapOver(store.dataDir).verify({ full: true });
      const part = await snapOver(store.dataDir).verify({ percent: 100 });
      expect(numbers(full), JSON.stringify(full.problems)).toEqual(lost);
      expect(numbers(part), JSON.stringify(part.problems)).toEqual(lost);
      if (lost.length > 0) expect(full.ok).toBe(false);
    }
  });

  test('that is damaged beside a sound copy: no snapshot is lost, and a problem is told', async () => {
    const store = copy('packs');
    const id = idOf(store, 'refs/jackin/t/2:mounts/m/own/2');
    const content = storeGit(store.dataDir, ['cat-file', 'blob', id]).stdoutBytes;
    const [place] = placesOf(store, id);
    flip(place!.path, place!.start + 20);
    const elsewhere = tempDir('other');
    mkdirSync(join(elsewhere, 'store.git'));
    storeGit(elsewhere, ['init', '-q', '--bare']);
    storeGit(elsewhere, ['hash-object', '-w', '--stdin'], { stdin: content });
    const made = storeGit(elsewhere, ['pack-objects', '-q', join(store.objects, 'pack/pack')], { stdin: `${id}\n` });
    expect(made.stdout).toMatch(/^[0-9a-f]{40}\n$/);
    expect(lostToGit(store)).toEqual([]);
    const full = await snapOver(store.dataDir).verify({ full: true });
    expect(full).toMatchObject({ ok: false, damaged: [] });
    expect(full.problems.join('\n')).toContain(id);
  });

  test('hit anywhere by chance: what is named is what git cannot read', async () => {
    const random = randomFrom(testSeed());
    for (let round = 0; round < 15; round++) {
      const store = copy(random.pick(layouts));
      for (let times = 1 + random.below(3); times > 0; times--) {
        const path = random.pick(filesBelow(store.objects).filter((name) => /\.(pack|idx)$|[0-9a-f]{38}$/.test(name)));
        flip(path, random.below(readFileSync(path).length), random.below(8));
      }
      const lost = lostToGit(store);
      const full = await snapOver(store.dataDir).verify({ full: true });
      expect(numbers(full), JSON.stringify(full.problems)).toEqual(lost);
    }
  });
});

describe('a loose object', () => {
  test.each<{ what: string; harm: (path: string, other: string) => void }>([
    { what: 'cut short', harm: (path) => truncateSync(path, 12) },
    { what: 'emptied', harm: (path) => truncateSync(path, 0) },
    { what: 'gone', harm: (path) => rmSync(path) },
    { what: 'that is another one', harm: (path, other) => writeFileSync(path, readFileSync(other)) },
    { what: 'of garbage', harm: (path) => writeFileSync(path, 'garbage') },
  ])('$what: the snapshots that need it are named, no others', async ({ harm }) => {
    for (const { name } of [objects[0]!, objects[2]!, objects[5]!, objects[6]!]) {
      const store = copy('loose');
      const [place] = placesOf(store, idOf(store, name));
      const [other] = placesOf(store, idOf(store, 'refs/jackin/t/1:mounts/m/own/1'));
      harm(place!.path, other!.path);
      const { lost } = await expectNamed(store);
      expect(lost).not.toEqual([]);
    }
  });
});

test('of many lost paths the first are named, and all are counted', async () => {
  const store = copy('loose');
  const names = ['long', 'same/a', 'same/b', 'own/1', '.gitignore'];
  for (const name of names) rmSync(placesOf(store, idOf(store, `refs/jackin/t/1:mounts/m/${name}`))[0]!.path);
  const { damaged } = await snapOver(store.dataDir).verify();
  expect(damaged.map(({ snapshot, pathsTotal }) => [snapshot.seq, pathsTotal])).toEqual([
    [1, 5],
    [2, 3],
    [3, 3],
    [4, 3],
    [5, 3],
  ]);
  expect(damaged[0]?.paths).toContainEqual({ mount: 'm', path: 'same/a', kind: 'file' });
});

const index = (pack: string): string => pack.replace('.pack', '.idx');

function zero(path: string, start: number, end: number): void {
  writeFileSync(path, readFileSync(path).fill(0, start, end));
}

/** Where the places begin in an index of version 2. */
function placesIn(path: string): number {
  const count = readFileSync(path).readUInt32BE(8 + 255 * 4);
  return 8 + 1024 + count * 24;
}
