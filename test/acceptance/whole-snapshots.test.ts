import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

describe('snapshots hang on refs', () => {
  test("so that git's own clean-up takes none of them, whether packed, loose or with their refs packed", async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b\n' });
    const before = remember(scene.mount);
    await scene.save();
    scene.write({ a: 'x\n' });
    await scene.save();
    cleanUp(scene);
    scene.remove('d');
    await scene.restore();
    expectSame(before);
    storeGit(scene.dataDir, ['pack-refs', '--all', '--prune']);
    storeGit(scene.dataDir, ['repack', '-a', '-d', '-q', '-f']);
    storeGit(scene.dataDir, ['prune', '--expire=now']);
    await scene.restore(2);
    expect(scene.read('a')).toBe('x\n');
    await scene.undo();
    expectSame(before);
    unpack(scene);
    cleanUp(scene);
    scene.remove('a');
    await scene.restore();
    expectSame(before);
    await scene.run(['verify', '--full']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
  });

  test('each of its own state: what was saved last week is not handed out for today', async () => {
    const scene = new Scene();
    const other = scene.folder('other', { f: 'other\n' });
    for (const f of ['1', '2', '3']) {
      scene.write({ f: `${f}\n`, [`d${f}/same size`]: `${f}\n` });
      await scene.save([], { dirs: [scene.mount, other] });
    }
    const listed = await scene.list();
    expect(listed.map(({ seq }) => seq)).toEqual([3, 2, 1]);
    expect(new Set(listed.map(({ tree }) => tree)).size).toBe(3);
    for (const f of ['1', '2', '3']) expect(await scene.content(f, 'm:f')).toBe(`${f}\n`);
    await scene.restore(2);
    expect([scene.read('f'), scene.has('d2'), scene.has('d3')]).toEqual(['2\n', true, false]);
    // What was restored is the state of now: a save of it is the old tree again, under a number of its own.
    const again = await scene.save();
    expect(again.data.snapshot).toMatchObject({ seq: 5, parent_seq: 4 });
    const quiet = await scene.save(['--if-changed']);
    expect(quiet.data.created).toBe(false);
    scene.write({ 'd1/same size': '9\n' });
    expect((await scene.save(['--if-changed'])).data.created).toBe(true);
    expect(await scene.content('latest', 'm:d1/same size')).toBe('9\n');
  });
});

describe('a store that lost objects', () => {
  test.each([
    { what: 'a file', lose: ['d/b'] },
    { what: 'a folder', lose: ['d'] },
    { what: 'both, and the root', lose: ['d/b', 'd', ''] },
  ])('of $what is told about by list and verify, and nothing is touched', async ({ lose }) => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b\n' });
    await scene.save();
    scene.write({ a: 'x\n' });
    scene.remove('d/b');
    await scene.save();
    const broken = rememberUntouched(scene.mount);
    unpack(scene);
    for (const path of lose) removeObject(scene, `refs/jackin/t/1:mounts/m${path === '' ? '' : `/${path}`}`);
    const shared = lose.includes('d');
    const refused = await scene.restore(1, [], { code: 7 });
    expect(refused.document.error?.code).toBe('SNAPSHOT_DAMAGED');
    await scene.restore(1, ['--dry-run'], { code: [0, 7] });
    expectSame(broken);
    await scene.run(['verify'], { code: 7 });
    const listed = await scene.list();
    expect(listed.map(({ seq }) => seq)).toEqual([2, 1]);
    expect(listed.find(({ seq }) => seq === 1).restorable).toBe(false);
    expect(listed.find(({ seq }) => seq === 2).restorable, 'the other one is whole').toBe(true);
    expect(shared || lose.length === 1).toBe(true);
    // What is lost is in the mount once more: the next save must not lean on what is no longer there.
    scene.write({ 'd/b': 'b\n' });
    const saved = await scene.save(['--full']);
    scene.remove('d/b');
    await scene.restore(saved.data.snapshot.seq);
    expect(scene.read('d/b')).toBe('b\n');
  });

  test('is healed by the next save of the same files: nothing is taken over from the snapshot that lost them', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b\n', 'd/c': 'c\n' });
    await scene.save();
    // By then all of it is settled, and the second save takes over what the first one recorded.
    await new Promise((later) => setTimeout(later, 50));
    await scene.save();
    await scene.save();
    unpack(scene);
    removeObject(scene, 'refs/jackin/t/3:mounts/m/d/b');
    const healed = await scene.save();
    scene.remove('d');
    await scene.restore(healed.data.snapshot.seq);
    expect([scene.read('d/b'), scene.read('d/c')]).toEqual(['b\n', 'c\n']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
  });

  test('or holds damaged ones refuses to restore from them', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b\n' });
    await scene.save();
    scene.write({ 'd/b': 'changed\n' });
    const still = rememberUntouched(scene.mount);
    unpack(scene);
    const path = objectPath(scene, 'refs/jackin/t/1:mounts/m/d/b');
    const bytes = readFileSync(path);
    rmSync(path);
    writeFileSync(path, bytes.fill(0, bytes.length - 6));
    await scene.restore(1, [], { code: 7 });
    await scene.run(['cat', '1', '--', 'd/b'], { code: 7 });
    await scene.run(['export', '1', join(scene.area, 'exported')], { code: 7 });
    expectSame(still);
    await scene.run(['verify', '--full'], { code: 7 });
  });

  test('as a whole pack says so, and keeps what it has', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n' });
    await scene.save();
    scene.write({ a: 'b\n' });
    const still = rememberUntouched(scene.mount);
    const packs = join(scene.store, 'objects/pack');
    const aside = scene.folder('aside');
    for (const name of readdirSync(packs)) renameSync(join(packs, name), join(aside, name));
    await scene.restore(1, [], { code: 7 });
    expectSame(still);
    await scene.run(['list'], { code: [0, 7] });
    await scene.run(['prune', '--yes'], { code: [0, 7] });
    for (const name of readdirSync(aside)) renameSync(join(aside, name), join(packs, name));
    await scene.restore(1);
    expect(scene.read('a')).toBe('a\n');
  });
});

function cleanUp(scene: Scene): void {
  storeGit(scene.dataDir, ['reflog', 'expire', '--expire=now', '--all']);
  storeGit(scene.dataDir, ['gc', '--quiet', '--prune=now']);
}

/** All objects loose. */
function unpack(scene: Scene): void {
  const packs = join(scene.store, 'objects/pack');
  const aside = join(scene.area, 'packs');
  mkdirSync(aside);
  for (const name of readdirSync(packs)) renameSync(join(packs, name), join(aside, name));
  for (const name of readdirSync(aside).filter((each) => each.endsWith('.pack')))
    storeGit(scene.dataDir, ['unpack-objects', '-q'], { stdin: readFileSync(join(aside, name)) });
  rmSync(aside, { recursive: true });
}

function objectPath(scene: Scene, name: string): string {
  const id = storeGit(scene.dataDir, ['rev-parse', name]).stdout.trim();
  return join(scene.store, 'objects', id.slice(0, 2), id.slice(2));
}

function removeObject(scene: Scene, name: string): void {
  rmSync(objectPath(scene, name));
}
