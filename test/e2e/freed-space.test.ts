import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bytesBelow } from '../../src/git/garbage/disk-usage.js';
import { createSnap } from '../../src/index.js';
import { removeTree } from '../support/remove-tree.js';
import { storeGit } from '../support/store-git.js';
import { makeTempDir, tempDir } from '../support/temp.js';
import {
  type ManySaves,
  cli,
  copyOf,
  expectRestorable,
  expectSound,
  gitThat,
  packsIn,
  processesOf,
  saveOften,
  snapOf,
} from './housekeeping-scene.js';

const area = makeTempDir('often');
let often: ManySaves;
beforeAll(async () => {
  often = await saveOften(area, 60);
});
afterAll(() => removeTree(area));

describe('a collection that is killed', () => {
  test.each([
    { moment: 'before it writes', when: '*--write-bitmap-index*', script: 'kill -9 $PPID; exit 1' },
    {
      moment: 'while it writes',
      when: '*--write-bitmap-index*',
      script: '"$git" "$@" & kill -9 $PPID; kill -9 $!; exit 1',
    },
    { moment: 'beside a git that goes on', when: '*--write-bitmap-index*', script: 'kill -9 $PPID; exec "$git" "$@"' },
    { moment: 'when it has written', when: '*--write-bitmap-index*', script: '"$git" "$@"; kill -9 $PPID; exit 1' },
    { moment: 'while it checks', when: '*rev-list*--quiet*', script: 'kill -9 $PPID; exec "$git" "$@"' },
    { moment: 'after packs went', when: '*--no-prune*', script: 'kill -9 $PPID; exit 1' },
    { moment: 'while loose refs go', when: '*--prune*', script: '"$git" "$@" & kill -9 $PPID; kill -9 $!; exit 1' },
  ])('$moment leaves all that is kept, and the next one frees the rest', async ({ when, script }) => {
    const saves = copyOf(often);
    await snapOf(saves).delete({ snapshots: ['2', '30', '59'], confirm: yes });
    ageObjects(saves);
    const path = gitThat(`case "$*" in ${when}) ${script} ;; esac\nexec "$git" "$@"`);
    expect((await cli(saves, ['gc'], { PATH: path })).signal).toBe('SIGKILL');
    await expect.poll(() => processesOf(saves.dataDir), { timeout: 30_000 }).toEqual([]);
    expect(await numbersOf(saves)).toHaveLength(57);

    expect((await snapOf(saves).save({})).snapshot.seq).toBe(61);
    await expectSound(saves);
    ageObjects(saves);
    await snapOf(saves).gc({});
    expect(packsIn(saves.dataDir)).toHaveLength(1);
    expect(storeGit(saves.dataDir, ['fsck', '--unreachable', '--no-reflogs']).stdout).toBe('');
    await expectRestorable(saves, [1, 3, 31, 60]);
    await expectSound(saves);
  });
});

describe('a store under steady saves', () => {
  const step = 20_000;

  /** Saves content that is another each time, and keeps house as the program does. @returns the size after each save */
  async function sizesOf(saves: Pick<ManySaves, 'dataDir' | 'mount'>, count: number): Promise<number[]> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const snap = createSnap({ dataDir: saves.dataDir, cwd: saves.mount, instance: 'often', env, graceSeconds: 0 });
    const sizes = [];
    for (let seq = 1; seq <= count; seq++) {
      writeFileSync(join(saves.mount, `f${seq % 3}`), randomBytes(step));
      await snap.save({});
      if (seq === 1) await snap.instance.set({ keep_last: '5' });
      if (await snap.housekeeping.isDue()) await snap.housekeeping.run();
      sizes.push(sizeOf(saves));
    }
    return sizes;
  }

  test('does not grow for ever: what retention lets go is freed', async () => {
    const area = tempDir('steady');
    const saves = { dataDir: join(area, 'data'), mount: join(area, 'mount'), walks: new Map<number, never>() };
    mkdirSync(saves.mount);
    const sizes = await sizesOf(saves, 240);
    const [early, late] = [Math.max(...sizes.slice(0, 120)), Math.max(...sizes.slice(120))];
    expect(late).toBeLessThan(early * 1.1);
    expect(late).toBeLessThan(70 * step);
    expect((await numbersOf(saves)).slice(-5)).toEqual([236, 237, 238, 239, 240]);
    await expectSound(saves);
  });
});

test('what retention let go is freed, once it is old enough', async () => {
  const saves = await saveOften(tempDir('let-go'), 49);
  await snapOf(saves).instance.set({ auto_prune: 'true', keep_last: '3' });
  writeFileSync(join(saves.mount, 'big'), randomBytes(3_000_000));
  const packs = packsIn(saves.dataDir).length;
  await snapOf(saves).save({});
  rmSync(join(saves.mount, 'big'));
  for (let more = 0; more < 4; more++) await snapOf(saves).save({});
  while (packsIn(saves.dataDir).length % 10 !== 9) await snapOf(saves).save({});
  expect(packsIn(saves.dataDir).length).toBeGreaterThan(packs);
  ageObjects(saves);
  expect(sizeOf(saves)).toBeGreaterThan(3_000_000);
  await snapOf(saves).instance.set({ auto_prune: 'false' });
  await cli(saves, ['save']);
  await expect.poll(() => sizeOf(saves), { timeout: 60_000 }).toBeLessThan(1_000_000);
  await expect.poll(() => processesOf(saves.dataDir), { timeout: 30_000 }).toEqual([]);
  await expectRestorable(saves, [1]);
  await expectSound(saves);
});

const yes = (): Promise<boolean> => Promise.resolve(true);

async function numbersOf(saves: ManySaves): Promise<number[]> {
  return (await snapOf(saves).list({})).snapshots.map(({ seq }) => seq).sort((a, b) => a - b);
}

/** As if all objects had been written an hour ago. */
function ageObjects({ dataDir }: ManySaves): void {
  const when = Date.now() / 1000 - 3600;
  const objects = join(dataDir, 'store.git/objects');
  for (const name of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(objects, name), when, when);
}

function sizeOf({ dataDir }: Pick<ManySaves, 'dataDir'>): number {
  return bytesBelow(join(dataDir, 'store.git/objects'));
}
