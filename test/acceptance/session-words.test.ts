import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FakeJackin } from '../support/jackin-home.js';
import { Scene, said } from './scene.js';
import { inTree, none, sample } from './worktree-scene.js';

/** What the program tells about sessions, and what it tells to type next: all of it can be done. */

const typed = (text: string): string[] =>
  [...text.matchAll(/jackin-snap (?:--data-dir \S+ )?(.*?)(?:$|; )/gm)].map(([, words = '']) => words);

async function closed(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  await scene.run(['discard', 't', '--yes']);
  return scene;
}

describe('an ordinary folder that was discarded', () => {
  test('has suggestions that are possible, and gets another instance', async () => {
    const scene = await closed();
    scene.write({ a: '2' });
    const look = await scene.run(['assess', 't']);
    expect(look.stdout).toContain('Instance t is closed, for good');
    expect(look.stdout).not.toMatch(/ (?:keep|discard) t/);
    const suggested = typed(look.stdout).map((words) => words.replace(/ \S+$/, ''));
    expect(suggested).toEqual(['assess t', '-i t restore 1 --to', '-i NAME save']);
    for (const verb of ['keep', 'discard', 'resume'])
      expect(said(await scene.run([verb, 't'], { code: 4 }))).toContain('-i NAME save');
    await scene.run(['save', scene.mount], { instance: 'again' });
    expect((await scene.json(['save'], none)).data.snapshot).toMatchObject({ instance: 'again', seq: 2 });
  });
});

describe('a worktree that was removed', () => {
  async function removed() {
    const scene = sample();
    const { data } = await inTree(scene, 'echo 2 > new', ['--keep', 'discard']);
    return { scene, name: data.instance as string };
  }

  test('is said to be, with suggestions that are possible', async () => {
    const { scene, name } = await removed();
    expect((await scene.json(['list', '--all'], none)).data.instances).toMatchObject([{ name, status: 'removed' }]);
    const look = await scene.run(['assess', name], none);
    expect(look.stdout).not.toContain(' save');
    expect(look.stdout).toContain(`-i ${name} restore 2 --to DIR`);
    expect(look.stdout).not.toMatch(/\.\.|\.;/);
    expect(said(await scene.run(['discard', name, '--yes'], { ...none, code: 5 }))).not.toMatch(/\.\.(?!\/)|\.;/);
    const resumed = await scene.run(['resume', name], none);
    expect(resumed.stdout).toMatch(/What it held: .*restore 2 --to DIR/);
    expect(resumed.stdout).not.toMatch(/ run -- | diff /);
  });

  test('is recovered as it was last, and that is said', async () => {
    const { scene, name } = await removed();
    const to = join(scene.area, 'back');
    const run = await scene.run(['recovery', 'restore', name, '--to', to, '--yes'], none);
    expect(run.stderr).toContain(`Snapshot 2 of ${name} is taken, the newest, since none of its folders is there`);
    expect(run.stderr).toContain(`There are 2, the latest is 2; another one: jackin-snap`);
    expect(readFileSync(join(to, 'new'), 'utf8')).toBe('2\n');
    const shown = await scene.run(['recovery', 'show', name], none);
    expect(shown.stdout).toContain(`recovery restore ${name} --to DIR`);
    expect(shown.stdout).not.toContain('recovery diff');
  });
});

test('a recovery of folders that are there goes back before the last run, and says which it takes', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.run(['run', '--', 'sh', '-c', 'printf 2 > a']);
  scene.write({ a: '3' });
  await scene.run(['save']);
  const { document, data } = await scene.json(['recovery', 'restore', 't', '--dry-run']);
  expect(data.rollback_summary.from_snapshot).toMatchObject({ seq: 1 });
  expect(document.messages).toContainEqual(
    expect.stringMatching(
      /^Snapshot 1 of t is taken, that before the last run\. There are 3, the latest is 3; another one: /,
    ),
  );
  const named = await scene.run(['recovery', 'restore', 't', '2', '--dry-run']);
  expect(said(named)).not.toContain('is taken');
  expect((await scene.run(['list'])).stdout).toContain("Before sh -c 'printf 2 > a'");
});

describe('keep', () => {
  test('says what no snapshot holds, and that somebody is at work', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const same = await scene.json(['keep', 't']);
    expect(same.data.mounts).toMatchObject([{ state: 'as_saved', changed: 0, compared_with: { seq: 1 } }]);
    expect(same.document.messages).toEqual([]);
    scene.write({ a: '2', b: 'b' });
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    const run = await scene.run(['keep', 't']);
    expect(run.stdout).toContain('changed since the last whole snapshot, 1 (2 files)');
    expect(run.stderr).toMatch(/in no snapshot in full \(m\)\. Save it: .*-i t save$/m);
    expect(run.stderr).toContain('It is active (');
    expect(await scene.numbers()).toEqual([1]);
  });

  test('does not hide that what was kept was killed', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['keep', 't', '-m', 'later']);
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const gone = JSON.stringify({ pid: 999_999, start: '1', bootId, by: 'run' });
    writeFileSync(join(scene.dataDir, 'instances/t/activity.json'), gone);
    const shown = await scene.run(['recovery', 'show', 't']);
    expect(shown.stdout).toMatch(/^ {2}ended +killed, noticed \d{4}-/m);
    expect(shown.stdout).toMatch(/^ {2}decided +keep, .*: later$/m);
    expect((await scene.json(['recovery', 'show', 't'])).data).toMatchObject({
      ended: { how: 'killed' },
      exit: { decision: 'keep' },
    });
    const { data } = await scene.json(['list', '--all']);
    expect(data.instances).toMatchObject([{ status: 'kept', ended: { how: 'killed' } }]);
    expect((await scene.run(['list', '--all'])).stdout).toMatch(/^t\tkept, killed\t/);
    expect((await scene.run(['instance', 'show'])).stdout).toMatch(/^State +kept, killed, not active$/m);
  });
});

describe('a save', () => {
  test('of a new instance says so, and of which folder', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const first = await scene.run(['save']);
    expect(first.stdout).toContain(`a new instance, of ${scene.mount}`);
    expect((await scene.run(['save'])).stdout).not.toContain('new instance');
    expect((await scene.json(['save'], { instance: 'other' })).data).toMatchObject({
      created: true,
      new_instance: true,
    });
  });

  test('under a name that only a container has and nobody knows is refused, but for folders that are named', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const jackin = new FakeJackin(scene.area);
    jackin.session();
    const options = { env: jackin.env, instance: 'jk-k7p2m9xb-shop-smith' };
    const { document } = await scene.json(['save'], { ...options, code: 3 });
    expect(document.error).toMatchObject({ code: 'JACKIN_NOT_FOUND', hint: expect.stringContaining('import jackin') });
    await scene.json(['run', '--', 'touch', 'ran'], { ...options, code: 3 });
    expect(scene.has('ran')).toBe(false);
    expect((await scene.json(['plan'], { ...options, code: 4 })).data.snapshot.refusal).toMatchObject({
      code: 'JACKIN_NOT_FOUND',
    });
    await scene.json(['save', '.'], options);
    expect((await scene.json(['save'], options)).data).toMatchObject({ snapshot: { seq: 2 }, new_instance: false });
    rmSync(join(scene.dataDir, 'instances'), { recursive: true });
    expect((await scene.json(['save'], options)).data.snapshot.seq).toBe(3);
  });

  test('of a path that is not there says what that means', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const { document } = await scene.json(['save', '--path', 'nosuch', '--path', 'a']);
    expect(document.messages).toEqual([expect.stringMatching(/^nosuch is not there: that is recorded/)]);
    scene.write({ nosuch: 'made since' });
    await scene.restore(2);
    expect(scene.has('nosuch')).toBe(false);
  });
});

test("an import says that there is nothing of jackin's", async () => {
  const scene = new Scene();
  const run = await scene.run(['instance', 'import', 'jackin'], none);
  expect(run.stderr).toMatch(/jackin has no session in .*: there is no such folder\. JACKIN_HOME_DIR/);
  const jackin = new FakeJackin(scene.area);
  for (const args of [[], ['--all']])
    expect((await scene.run(['instance', 'import', 'jackin', ...args], { ...none, env: jackin.env })).stderr).toMatch(
      /jackin has no session in .*: nothing in it is of a session/,
    );
});

test('a run in a worktree says what of a changed checkout it does not have', async () => {
  const scene = sample();
  const warned = /Changes that are not committed are not in the worktree/;
  expect(said(await scene.run(['run', '--worktree', '--', 'true'], none))).not.toMatch(warned);
  scene.write({ 'plan.txt': 'changed\n' });
  expect((await scene.run(['run', '--worktree', '--', 'true'], none)).stderr).toMatch(warned);
  expect((await inTree(scene, 'true')).document.messages).toContainEqual(expect.stringMatching(warned));
});

test('counts of files and folders are told apart', async () => {
  const scene = new Scene();
  scene.write({ f: '1', 'a/b/g': '2' });
  scene.folder('m/empty');
  await scene.save();
  scene.remove('a', 'empty');
  scene.write({ 'new/h': '3' });
  const plan = await scene.run(['restore', '1', '--dry-run']);
  expect(plan.stdout).toContain('4 create (3 folders), 2 delete (1 folder)');
  expect((await scene.run(['restore', '1', '--yes'])).stdout).toContain(
    'Restored 1 file and 3 folders (1 B), deleted 1 file and 1 folder, from snapshot 1',
  );
  const usage = (await scene.run(['du'])).stdout.split('\n').filter(Boolean);
  const { data } = await scene.json(['du']);
  expect(usage.at(-1)).toBe(`(store)\t${String(data.store.total_bytes)}`);
  const explained = (await scene.run(['explain', 'nosuch/dir'])).stdout;
  expect(explained).toBe('nosuch/dir: not there\n  if it were there, no rule would leave it out\n');
});
