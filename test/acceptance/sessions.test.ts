import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compareTrees } from '../support/compare.js';
import { addWorktree, cloneRepository, createHistory, userGit, writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, planned, remember, rememberUntouched, said } from './scene.js';

describe('a snapshot of one folder is not poured over another', () => {
  test('that was moved to its place, or is reached by a link there', async () => {
    const scene = new Scene();
    scene.write({ a: 'one\n' });
    const other = scene.folder('m2', { a: 'two\n', b: 'keep\n' });
    await scene.save();
    await scene.run(['restore', '1', '--yes'], { cwd: other, instance: null, code: 3 });

    renameSync(scene.mount, join(scene.area, 'm1'));
    renameSync(other, scene.mount);
    const moved = rememberUntouched(scene.mount);
    const refused = await scene.restore(1, [], { code: 4 });
    expect(refused.document.error?.code).toBe('MOUNT_REPLACED');
    expectSame(moved, 'the other folder');

    renameSync(scene.mount, other);
    symlinkSync('m2', scene.mount);
    const linked = rememberUntouched(other);
    await scene.restore(1, [], { code: 4, cwd: scene.area });
    await scene.restore(1, ['--', 'a'], { code: 4, cwd: scene.area });
    expectSame(linked, 'what the link leads to');

    await scene.restore(1, ['--to', join(scene.area, 'new')], { cwd: scene.area });
    expect(compareTrees(walkTree(join(scene.area, 'm1')), walkTree(join(scene.area, 'new')))).toEqual([]);
    expectSame(linked, 'what the link leads to');
    rmSync(scene.mount);
    await scene.restore(1, [], { code: 4, cwd: scene.area });
  });

  test('when a parent became a link, when one of several mounts is another, when a clone took the place', async () => {
    const scene = new Scene();
    const origin = join(scene.area, 'origin');
    createHistory(origin);
    mkdirSync(join(scene.area, 'parent'));
    const first = join(scene.area, 'parent/first');
    cloneRepository(origin, first);
    const second = scene.folder('second', { s: 's\n' });
    await scene.save([], { dirs: [first, second] });
    writeFiles(second, { s: 'edited\n' });
    writeFiles(first, { 'shared.txt': 'edited\n' });
    const still = rememberUntouched(second);

    renameSync(join(scene.area, 'parent'), join(scene.area, 'away'));
    symlinkSync('away', join(scene.area, 'parent'));
    const behindLink = rememberUntouched(join(scene.area, 'away/first'));
    await scene.restore(1, [], { code: 4 });
    expectSame(behindLink, 'the mount behind the link');
    expectSame(still, 'the mount beside it');

    rmSync(join(scene.area, 'parent'));
    mkdirSync(join(scene.area, 'parent'));
    cloneRepository(origin, first);
    const clone = rememberUntouched(first);
    await scene.restore(1, [], { code: 4 });
    expectSame(clone, 'the new clone');
    expectSame(still, 'the mount beside it');
    await scene.restore(1, ['--mount', 'second']);
    expectSame(clone, 'the new clone');
    await scene.restore(1, ['--force', '--mount', 'first']);
  });

  test('whichever instance is named with -i', async () => {
    const scene = new Scene();
    scene.write({ a: 'one\n' });
    const other = scene.folder('m2', { a: 'two\n', b: 'keep\n' });
    const { data } = await scene.save([], { instance: 'one' });
    await scene.save([], { instance: 'two', dirs: [other] });
    scene.write({ a: 'edited\n' });
    const untouched = rememberUntouched(other);
    const { id, ref, commit } = data.snapshot;
    for (const name of ['one/1', id, ref, commit.slice(0, 12)]) {
      scene.write({ a: `edited for ${name}\n` });
      const restored = await scene.json(['restore', name, '--yes'], { instance: 'two', code: [0, 3, 4], cwd: other });
      expectSame(untouched, `the folder of the other instance, by ${name},`);
      if (restored.code === 0) expect(scene.read('a')).toBe('one\n');
    }
    await scene.save(['--allow-unsafe-mount', other], { instance: 'one', code: 4 });
    expect(await scene.numbers({ instance: 'two' })).toEqual([1]);
  });

  test('and a linked worktree is not its main checkout', async () => {
    const scene = new Scene();
    createHistory(scene.mount);
    const linked = join(scene.area, 'linked');
    addWorktree(scene.mount, linked, 'linked');
    const { data } = await scene.save([], { instance: null, dirs: [linked] });
    const main = rememberUntouched(scene.mount);
    writeFiles(linked, { 'shared.txt': 'edited\n', new: 'n\n' });
    await scene.run(['restore', '1', '--yes'], { instance: null, cwd: scene.mount, code: 3 });
    await scene.run(['restore', 'latest', '--yes'], { instance: null, cwd: join(linked, 'src') });
    expect(data.snapshot.instance).toMatch(/^linked-[0-9a-f]{8}$/);
    expectSame(main, 'the main checkout');
    expect(userGit(linked, ['status', '--short']).stdout).toBe('');
  });
});

describe('a restore stays in the folder that was saved', () => {
  test('siblings, parents and the repository around it are not rewound', async () => {
    const scene = new Scene();
    createHistory(scene.mount);
    scene.write({ 'fe/x': '1\n', 'be/y': 'old\n', 'fe/deep/z': '1\n' });
    userGit(scene.mount, ['add', '--all']);
    await scene.save([], { instance: 'be', dirs: [scene.at('be')] });
    scene.write({ 'be/y': 'new\n' });
    symlinkSync('../be', scene.at('fe/link'));
    await scene.save([], { instance: 'fe', dirs: [scene.at('fe')] });
    scene.write({ 'fe/x': '2\n', 'be/z': 'later\n', 'shared.txt': 'edited\n', top: 'new\n', 'fe/new': 'n' });
    rmSync(scene.at('fe/link'));
    mkdirSync(scene.at('fe/link'));
    scene.write({ 'fe/link/w': 'w' });
    const others = ['be', '.git', 'src'].map((name) => rememberUntouched(scene.at(name)));

    // From a folder within the mount the instance is found without its name.
    const restored = await scene.restore(1, [], { instance: null, cwd: scene.at('fe/deep') });
    expect([scene.read('fe/x'), scene.has('fe/new'), scene.has('fe/link/w')]).toEqual(['1\n', false, false]);
    for (const plan of restored.data.plan) expect(plan.host_path).toContain(`${scene.mount}/fe/`);
    for (const other of others) expectSame(other, 'a sibling');
    expect([scene.read('shared.txt'), scene.read('top'), scene.read('be/z')]).toEqual(['edited\n', 'new\n', 'later\n']);
  });

  test('a path that points out of it is no path', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n' });
    writeFiles(scene.outside, { canary: 'c\n' });
    await scene.save();
    const canary = rememberUntouched(scene.outside);
    for (const path of ['../out', '../out/canary', 'a/../../out', join(scene.outside, 'canary')])
      await scene.restore(1, ['--', path], { code: [2, 3] });
    symlinkSync('../out', scene.at('out'));
    await scene.restore(1, ['--', 'out/canary'], { code: 3 });
    expectSame(canary, 'the folder outside');
  });
});

describe('edits made after the turn of an agent', () => {
  test('are in the emergency snapshot, which is listed as such and brings them back', async () => {
    const scene = new Scene();
    scene.write({ f: 'agent\n' });
    await scene.save();
    scene.write({ f: 'mine\n', n: 'note\n' });
    const mine = remember(scene.mount);
    await scene.restore();
    expect([scene.read('f'), scene.has('n')]).toEqual(['agent\n', false]);
    const listed = await scene.list();
    expect(listed.map(({ seq, trigger }) => [seq, trigger])).toEqual([
      [2, 'emergency'],
      [1, 'manual'],
    ]);
    expect(listed[0].recovery_of).toMatchObject({ instance: 't', seq: 1 });
    expect(listed[1].recovery_of).toBeNull();
    await scene.restore(2);
    expectSame(mine);
    // Back and forth: each undo takes back the restore before it.
    await scene.undo();
    expect(scene.read('f')).toBe('agent\n');
    await scene.undo();
    expectSame(mine);
  });

  test('whatever ignore rules and limits say of them by now', async () => {
    const scene = new Scene();
    scene.write({ 'log/a': 'agent\n', big: 'agent\n', once: 'agent\n', place: 'agent\n' });
    await scene.save();
    scene.write({ '.gitignore': 'log/\n*.tmp\n', 'log/a': 'mine\n', big: 'mine\n', once: 'mine\n' });
    truncateSync(scene.at('big'), 3 << 20);
    rmSync(scene.at('place'));
    scene.write({ 'place/ignored.tmp': 'mine\n', 'place/deep/er': 'mine\n' });
    await scene.run(['instance', 'set', 'max_file_size=1048576', 'exclude=once']);
    const mine = remember(scene.mount);
    const restored = await scene.restore();
    expect([scene.read('log/a'), scene.read('big'), scene.read('once')]).toEqual(['agent\n', 'agent\n', 'agent\n']);
    expect(scene.read('place')).toBe('agent\n');
    expect(planned(restored)).toEqual(expect.arrayContaining(['overwrite big', 'overwrite log/a', 'retype place']));
    await scene.undo();
    expectSame(mine);
  });

  test('are lost to nobody who declines, or who has nothing to restore', async () => {
    const scene = new Scene();
    scene.write({ f: 'agent\n' });
    await scene.save();
    const same = await scene.restore();
    expect(same.data.plan).toEqual([]);
    scene.write({ f: 'mine\n' });
    const mine = rememberUntouched(scene.mount);
    await scene.json(['restore', '1'], { code: 5 });
    await scene.json(['restore', '1', '--force'], { code: 5 });
    await scene.restore(1, ['--dry-run']);
    expectSame(mine);
    expect(await scene.numbers()).toEqual([1]);
  });
});

describe('another session that is active', () => {
  test('in the same folder stops a restore, is named, and its work is in the emergency snapshot when forced', async () => {
    const scene = new Scene();
    scene.write({ a: '0\n', b: '0\n' });
    const one = { instance: 'one' };
    await scene.save([], one);
    scene.write({ a: '1\n' });
    await scene.save([], { instance: 'two' });
    scene.write({ b: '2\n' });
    await scene.run(['instance', 'activate', '--pid', String(owner())], { instance: 'two' });
    const still = rememberUntouched(scene.mount);

    for (const args of [[], ['--', 'a'], ['--mount', 'm']]) {
      const refused = await scene.restore(1, args, { ...one, code: 4 });
      expect(refused.document.error?.code).toBe('INSTANCE_ACTIVE');
      expect(said(refused)).toContain('two');
    }
    expectSame(still);
    expect(await scene.numbers(one)).toEqual([1]);
    await scene.restore(1, ['--dry-run'], one);
    await scene.restore(1, ['--to', join(scene.area, 'elsewhere')], one);
    expectSame(still);

    await scene.json(['restore', '1', '--force'], { ...one, code: 5 });
    await scene.restore(1, ['--force'], one);
    expect([scene.read('a'), scene.read('b')]).toEqual(['0\n', '0\n']);
    const emergency = await scene.emergency(one);
    expect(emergency.message).toContain('two');
    expect(await scene.content(emergency.seq, 'b', one)).toBe('2\n');
    const undone = await scene.undo([], { ...one, code: 4 });
    expect(undone.document.error?.code).toBe('INSTANCE_ACTIVE');
  });

  test('counts when its folder lies above, below or is this very instance; beside it does not', async () => {
    const scene = new Scene();
    scene.write({ 'p/q/a': '0\n', 'r/a': '0\n' });
    const dirs = { whole: scene.mount, below: scene.at('p/q'), middle: scene.at('p'), beside: scene.at('r') };
    for (const [instance, dir] of Object.entries(dirs)) await scene.save([], { instance, dirs: [dir] });
    scene.write({ 'p/q/a': '1\n', 'r/a': '1\n' });
    const pid = owner();
    const blocked: string[] = [];
    for (const active of ['whole', 'below', 'middle', 'beside']) {
      await scene.run(['instance', 'activate', '--pid', String(pid)], { instance: active });
      const tried = await scene.restore(1, [], { instance: 'middle', code: [0, 4] });
      if (tried.code === 4) blocked.push(active);
      await scene.run(['instance', 'deactivate'], { instance: active });
    }
    expect(blocked).toEqual(['whole', 'below', 'middle']);
  });

  test('stops nobody when its owner is dead', async () => {
    const scene = new Scene();
    scene.write({ a: '0\n' });
    await scene.save();
    scene.write({ a: '1\n' });
    const pid = owner();
    await scene.run(['instance', 'activate', '--pid', String(pid)]);
    await scene.restore(1, [], { code: 4 });
    await ended(pid);
    await scene.restore();
    expect(scene.read('a')).toBe('0\n');
    await scene.run(['instance', 'close']);
    scene.write({ a: '1\n' });
    await scene.restore(1, [], { code: 4 });
    await scene.save([], { code: 4 });
    expect(await scene.content(1, 'a')).toBe('0\n');
  });
});

const owners = new Map<number, { kill: () => void; done: Promise<unknown> }>();

/** A process that lives until the test ends. */
function owner(): number {
  const child = spawn('sleep', ['300']);
  const pid = child.pid!;
  const done = new Promise((resolve) => child.once('exit', resolve));
  owners.set(pid, { kill: () => child.kill('SIGKILL'), done });
  onTestFinished(() => void child.kill('SIGKILL'));
  return pid;
}

async function ended(pid: number): Promise<void> {
  owners.get(pid)?.kill();
  await owners.get(pid)?.done;
}
