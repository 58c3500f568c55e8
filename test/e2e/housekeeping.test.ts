import { chmodSync, chownSync, existsSync, lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openLocks } from '../../src/git/flock.js';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { removeTree } from '../support/remove-tree.js';
import { startProcess } from '../support/run-process.js';
import { pushToStrictServer } from '../support/store-git.js';
import { makeTempDir, tempDir } from '../support/temp.js';
import {
  type ManySaves,
  change,
  cli,
  copyOf,
  expectRestorable,
  expectSound,
  gitThat,
  packsIn,
  processesOf,
  saveOften,
  snapOf,
  toldBy,
} from './housekeeping-scene.js';

const area = makeTempDir('often');
let often: ManySaves;
beforeAll(async () => {
  often = await saveOften(area, 60);
});
afterAll(() => removeTree(area));

describe('after many saves', () => {
  test('each snapshot restores as before, readers are told the same, and the next save checks nothing anew', async () => {
    // Its own, not a copy: what was checked is known by the very files.
    const saves = await saveOften(tempDir('own'), 52);
    const snap = snapOf(saves);
    const told = await toldBy(saves);
    const size = sizeOf(saves);
    await snap.housekeeping.run();

    expect(packsIn(saves.dataDir).length).toBeLessThan(8);
    expect(sizeOf(saves)).toBeLessThan(size);
    expect(filesBelow(join(saves.dataDir, 'store.git/refs'))).toEqual([]);
    expect(await toldBy(saves)).toEqual(told);
    const calls = join(saves.dataDir, '..', 'calls');
    change(saves.mount, 53);
    await snapOf(saves, gitThat(`echo "$*" >>'${calls}'\nexec "$git" "$@"`)).save({});
    expect(readFileSync(calls, 'utf8')).toContain('update-ref');
    expect(readFileSync(calls, 'utf8')).not.toContain('rev-list');
    await expectRestorable(saves);
    await expectSound(saves);
    const pushed = await pushToStrictServer(saves.dataDir);
    expect(pushed.accepted, pushed.output).toBe(true);
    expect(pushed.refs.size).toBe(53);
  });

  test('what is deleted later is freed by gc', async () => {
    const saves = copyOf(often);
    await snapOf(saves).housekeeping.run();
    const size = sizeOf(saves);
    expect((await cli(saves, ['delete', '2', '30', '59', '--yes'])).code).toBe(0);
    expect((await cli(saves, ['gc'])).code).toBe(0);
    expect(sizeOf(saves)).toBeLessThan(size);
    await expectRestorable(saves, [1, 3, 29, 31, 58, 60]);
    await expectSound(saves);
  });

  test('pins, deletion, retention and undo work on refs that are packed', async () => {
    const saves = copyOf(often);
    const snap = snapOf(saves);
    for (const seq of [5, 6]) await snap.pin(String(seq));
    await snap.housekeeping.run();
    expect((await cli(saves, ['delete', '5', '--yes'])).code).toBe(4);
    await snap.unpin('6');
    await snap.delete({ snapshots: ['6', '60'], confirm: yes });
    await snap.instance.set({ keep_last: '10' });
    const { removed } = await snap.prune({ confirm: yes });
    expect(removed).not.toHaveLength(0);
    const kept = await numbersOf(saves);
    expect(kept).toEqual(expect.arrayContaining([1, 5, 58, 59]));
    expect(kept).not.toContain(6);

    await snap.instance.set({ keep_last: '3', auto_prune: 'true' });
    const made = await snap.save({});
    expect(made.snapshot.seq).toBe(61);
    expect(await numbersOf(saves)).toEqual([1, 5, 58, 59, 61]);
    await snap.unpin('5');
    await snap.save({});
    expect(await numbersOf(saves)).not.toContain(5);
    await expectRestorable(saves, [1]);
    await expectSound(saves);
  });

  test('an undo after a restore, with all refs packed in between', async () => {
    const saves = await saveOften(tempDir('undo'), 52);
    const snap = snapOf(saves);
    await snap.restore({ snapshot: '10', confirm: yes });
    await snap.housekeeping.run();
    await snap.undo({ confirm: yes });
    await snap.restore({ snapshot: '52', confirm: () => Promise.resolve(false) }).catch(() => undefined);
    await expectRestorable(saves, [10, 52]);
    const now = await snap.save({});
    expect(now.snapshot.seq).toBe(55);
    await expectSound(saves);
  });
});

describe('beside others', () => {
  test('two at once, and everything that comes between: all that is kept stays whole', async () => {
    const saves = copyOf(often);
    const others = ['one', 'two'].map((name) => ['-i', name, 'save', '-m', name]);
    const commands = [
      ['gc', '--auto'],
      ['gc', '--auto'],
      ['delete', '40', '41', '--yes'],
      ['restore', '7', '--to', join(tempDir('beside'), 'to'), '--yes'],
      ['gc'],
      ['list'],
    ];
    const runs = await Promise.all([
      ...commands.map((args) => cli(saves, args)),
      ...others.map((args) => cli(saves, args)),
    ]);
    expect(runs.filter(({ code }) => code !== 0 && code !== 8).map(({ stderr }) => stderr)).toEqual([]);
    const numbers = await numbersOf(saves);
    await expectRestorable(
      saves,
      numbers.filter((seq) => saves.walks.has(seq) && seq % 7 === 0),
    );
    await expectSound(saves);
    for (let round = 0; round < 2; round++) await cli(saves, ['gc', '--auto']);
    await expectSound(saves);
  });

  test('while somebody stays in the store nothing goes; nobody is kept from saving', { timeout: 120_000 }, async () => {
    const saves = copyOf(often);
    const holder = { pid: process.pid, command: 'test' };
    const locks = openLocks({ dataDir: saves.dataDir, env: process.env, forbiddenDirectories: () => [], holder });
    const held = await locks.storeShared();
    const packs = packsIn(saves.dataDir);
    const housekeeper = cli(saves, ['gc', '--auto']);
    await expect.poll(() => packsIn(saves.dataDir).length, { timeout: 30_000 }).toBe(packs.length + 1);
    expect(packsIn(saves.dataDir)).toEqual(expect.arrayContaining(packs));
    expect((await snapOf(saves).save({})).snapshot.seq).toBe(61);
    held.release();
    expect((await housekeeper).code).toBe(0);
    expect(packsIn(saves.dataDir).length).toBeLessThan(8);
    await expectRestorable(saves, [1, 30, 60]);
    await expectSound(saves);
  });
});

describe('a housekeeper that is killed', () => {
  test.each([
    { moment: 'before it writes', when: '*pack-objects*', script: 'kill -9 $PPID; exit 1' },
    { moment: 'when it has written', when: '*pack-objects*', script: '"$git" "$@"; kill -9 $PPID; exit 1' },
    { moment: 'while it writes', when: '*pack-objects*', script: '"$git" "$@" & kill -9 $PPID; kill -9 $!; exit 1' },
    { moment: 'beside a git that goes on', when: '*pack-objects*', script: 'kill -9 $PPID; exec "$git" "$@"' },
    { moment: 'before the index of packs', when: '*multi-pack-index*', script: 'kill -9 $PPID; exit 1' },
    { moment: 'beside the index of packs', when: '*multi-pack-index*', script: 'kill -9 $PPID; exec "$git" "$@"' },
    { moment: 'after packs went', when: '*--no-prune*', script: 'kill -9 $PPID; exit 1' },
    { moment: 'when refs are packed', when: '*--no-prune*', script: '"$git" "$@"; kill -9 $PPID; exit 1' },
    { moment: 'while loose refs go', when: '*--prune*', script: '"$git" "$@" & kill -9 $PPID; kill -9 $!; exit 1' },
  ])('$moment leaves all there, and the next ones clear away', async ({ when, script }) => {
    const saves = copyOf(often);
    const path = gitThat(`case "$*" in ${when}) ${script} ;; esac\nexec "$git" "$@"`);
    const killed = await cli(saves, ['gc', '--auto'], { PATH: path });
    expect(killed.signal).toBe('SIGKILL');
    await expect.poll(() => processesOf(saves.dataDir), { timeout: 30_000 }).toEqual([]);
    expect(await numbersOf(saves)).toHaveLength(60);

    const { snapshot } = await snapOf(saves).save({});
    expect(snapshot.seq).toBe(61);
    const names = readdirSync(join(saves.dataDir, 'store.git'), { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => /tmp_|\.lock$|\.new$/.test(name))).toEqual([]);
    await expectSound(saves);
    await snapOf(saves).housekeeping.run();
    expect(packsIn(saves.dataDir).length).toBeLessThan(8);
    await expectRestorable(saves, [1, 2, 31, 60]);
    await expectSound(saves);
  });
});

describe('in the background', () => {
  test('a save that makes one pack too many starts it, and says nothing of it', async () => {
    const saves = await saveOften(tempDir('due'), 49);
    change(saves.mount, 50);
    const { code, stdout, stderr } = await cli(saves, ['--json', 'save']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { snapshot: { seq: 50 } } });
    await expect.poll(() => packsIn(saves.dataDir).length, { timeout: 60_000 }).toBeLessThan(8);
    await expect.poll(() => processesOf(saves.dataDir), { timeout: 30_000 }).toEqual([]);
    await expectRestorable(saves, [1, 49]);
    await expectSound(saves);
  });

  test('a data directory that is removed right after stays away', async () => {
    const saves = await saveOften(tempDir('gone'), 49);
    change(saves.mount, 50);
    expect((await cli(saves, ['save'])).stderr).toBe('');
    rmSync(saves.dataDir, { recursive: true, maxRetries: 20, retryDelay: 20 });
    await expect.poll(() => processesOf(saves.dataDir), { timeout: 30_000 }).toEqual([]);
    expect(existsSync(saves.dataDir)).toBe(false);
  });

  test.each([
    { without: 'git', env: { PATH: '/nonexistent' } },
    { without: 'anything that is due', env: {}, few: true },
  ])('without $without nothing is done', async ({ env, few = false }) => {
    const saves = few ? await saveOften(tempDir('few'), 3) : copyOf(often);
    const before = namesIn(saves);
    await cli(saves, ['gc', '--auto'], env);
    expect(namesIn(saves)).toEqual(before);
    await expectSound(saves);
  });
});

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)('in a data directory that may only be read nothing is done, and nothing is said', async () => {
  const saves = copyOf(often);
  const nobody = 65534;
  for (const path of [saves.dataDir, ...everythingBelow(saves.dataDir)]) chownSync(path, nobody, nobody);
  for (const path of [saves.dataDir, ...directoriesBelow(saves.dataDir)]) chmodSync(path, 0o500);
  chmodSync(join(saves.dataDir, '..'), 0o755);
  const before = namesIn(saves);
  const options = { cwd: '/', env: snapEnvironment('/nonexistent'), timeout: 60_000 };
  const command = [process.execPath, snapBin, '--data-dir', saves.dataDir, 'gc', '--auto'];
  const as = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  const { code } = await startProcess('setpriv', [...as, ...command], options).done;
  expect(code).toBe(9);
  expect(namesIn(saves)).toEqual(before);
});

const yes = (): Promise<boolean> => Promise.resolve(true);

async function numbersOf(saves: ManySaves): Promise<number[]> {
  return (await snapOf(saves).list({})).snapshots.map(({ seq }) => seq).sort((a, b) => a - b);
}

function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
}

function everythingBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));
}

function directoriesBelow(directory: string): string[] {
  return everythingBelow(directory).filter((path) => lstatSync(path).isDirectory());
}

function sizeOf({ dataDir }: ManySaves): number {
  return filesBelow(join(dataDir, 'store.git/objects')).reduce((sum, path) => sum + readFileSync(path).length, 0);
}

function namesIn({ dataDir }: ManySaves): string[] {
  return filesBelow(join(dataDir, 'store.git')).sort();
}
