import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import { FakeJackin } from '../support/jackin-home.js';
import { fsckStrict, makeStrictServer, refsOf, storeGit } from '../support/store-git.js';
import { userGit, userGitText } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { everyMoment, then } from './killed-restore.js';
import { bareRepository, fetchedElsewhere, packsIn, refsIn, savedTwice, unreachable } from './remote-scene.js';
import { Scene, leftovers } from './scene.js';

describe('snapshots that are pushed and fetched', () => {
  test('come back byte for byte, with their history, and once', async () => {
    const from = new Scene();
    await buildTree(from.mount, then);
    await from.save();
    from.write({ edited: 'v2' });
    await from.save();
    const remote = join(from.area, 'remote.git');
    makeStrictServer(remote);
    const pushed = await from.json(['push', remote]);
    expect(pushed.data).toMatchObject({ dry_run: false, present: [], left_out: [], refused: [] });
    expect(pushed.data.pushed.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2]);
    expect((await from.json(['push', remote])).data).toMatchObject({ pushed: [], present: [{ seq: 1 }, { seq: 2 }] });

    const to = new Scene();
    const fetched = await to.json(['fetch', remote]);
    expect(fetched.data.fetched).toEqual(pushed.data.pushed);
    expect(refsIn(to)).toEqual(refsIn(from));
    expect((await to.json(['fetch', remote])).data).toMatchObject({ fetched: [], present: [{ seq: 1 }, { seq: 2 }] });
    for (const seq of [1, 2]) {
      const [here, there] = [from, to].map((scene) => join(scene.area, `out-${String(seq)}`)) as [string, string];
      await from.restore(seq, ['--to', here]);
      await to.restore(seq, ['--to', there]);
      expect(compareTrees(walkTree(here), walkTree(there))).toEqual([]);
    }
    expect((await to.json(['verify', '--full'])).data).toMatchObject({ sound: true, snapshots_checked: 2 });
    expect([fsckStrict(to.dataDir), unreachable(to), leftovers(to.dataDir)]).toEqual([[], '', []]);
  });

  test('are there for every command that only looks, and the instance for a save of its own', async () => {
    const { scene, remote } = await savedTwice();
    await scene.run(['push', remote]);
    const to = new Scene();
    await to.run(['fetch', '--all', remote], { instance: null });
    expect(await to.numbers()).toEqual([2, 1]);
    expect((await to.json(['recovery', 'list', 't'], { instance: null })).data.snapshots).toHaveLength(2);
    for (const look of [
      ['recovery', 'list'],
      ['list', '--all'],
      ['instance', 'list'],
    ])
      expect((await to.json(look, { instance: null })).data.instances).toMatchObject([
        { name: 't', state: 'fetched', status: 'fetched', snapshots: 2, latest_seq: 2 },
      ]);
    expect((await to.run(['list', '--all'], { instance: null })).stdout).toMatch(/^t\tfetched\t2\t/);
    expect((await to.run(['diff', '1', '2', '--name-status'])).stdout).toContain('m/d/new');
    expect((await to.run(['log', '--format=%s'])).stdout.split('\n').slice(0, 2)).toEqual(['second', 'first']);
    to.write({ own: 'o' });
    const { stdout } = await to.run(['save', to.mount]);
    expect(stdout).toContain('Saved snapshot 3 of t ');
    expect(stdout).toContain(`the instance is from now on that of ${to.mount}`);
    expect((await to.json(['list', '--all'])).data.instances).toMatchObject([{ state: 'open', snapshots: 3 }]);
    rmSync(join(to.dataDir, 'instances/t/instance.json'));
    expect((await to.json(['list', '--all'])).data.instances).toMatchObject([{ state: 'lost', snapshots: 3 }]);
    expect(storeGit(to.dataDir, ['log', '--format=%s', 'refs/jackin/t/3']).stdout.split('\n')).toHaveLength(4);
  });

  test('of another instance of the name are refused, also where no number is used twice', async () => {
    const { scene, remote } = await savedTwice();
    await scene.run(['delete', '1', '--yes']);
    await scene.run(['push', remote]);
    const to = new Scene();
    to.write({ own: 'o' });
    await to.save();
    const { data } = await to.json(['fetch', remote], { code: 4 });
    expect(data).toMatchObject({ fetched: [], refused: [{ seq: 2, reason: 'other_history' }] });
    expect(await to.numbers()).toEqual([1]);
  });

  test('are not what undo takes, be their numbers the highest', async () => {
    const { scene, remote, to } = await fetchedElsewhere();
    to.write({ a: 'mine\n' });
    await to.json(['save', to.mount]);
    for (const text of ['three\n', 'four\n', 'five\n']) {
      scene.write({ a: text });
      await scene.save();
    }
    await scene.restore(1);
    await scene.run(['delete', '3', '4', '5', '--yes']);
    await scene.run(['push', remote]);
    to.write({ a: 'precious\n' });
    await to.restore(3);
    expect(to.read('a')).toBe('mine\n');
    await to.run(['fetch', remote]);
    expect((await to.numbers())[0]).toBe(6);
    await to.run(['undo', '--yes']);
    expect(to.read('a')).toBe('precious\n');
  });

  test('leave an emergency snapshot behind that holds a secret', async () => {
    const { scene, remote } = await savedTwice();
    scene.write({ '.env': 'TOKEN=1\n' });
    await scene.save(['--include-secrets']);
    scene.write({ '.env': 'TOKEN=2\n' });
    await scene.restore(3);
    const { data } = await scene.json(['push', remote]);
    expect(data.pushed).toMatchObject([{ seq: 1 }, { seq: 2 }]);
    expect(data.left_out).toMatchObject([
      { seq: 3, reason: 'secrets' },
      { seq: 4, reason: 'secrets' },
    ]);
  });

  test('that were removed here come back to their place in the history', async () => {
    const { scene, remote } = await savedTwice();
    scene.write({ a: 'three\n' });
    await scene.save(['-m', 'third']);
    const before = refsIn(scene);
    await scene.run(['push', remote]);
    await scene.run(['delete', '2', '--yes']);
    expect((await scene.json(['fetch', '--dry-run', remote])).data.fetched).toMatchObject([{ seq: 2 }]);
    expect(await scene.numbers()).toEqual([3, 1]);
    await scene.run(['fetch', remote]);
    expect(refsIn(scene)).toEqual(before);
    scene.write({ a: 'four\n' });
    expect((await scene.save()).data.snapshot.seq).toBe(4);
  });

  test('are those that were named, of the instance that was meant', async () => {
    const { scene, remote } = await savedTwice();
    await scene.save([], { instance: 'other', dirs: [scene.folder('other', { o: 'o' })] });
    expect((await scene.json(['push', '--dry-run', '--all', remote])).data.pushed).toHaveLength(3);
    expect(refsOf(remote).size).toBe(0);
    await scene.run(['push', remote, 'latest']);
    expect([...refsOf(remote).keys()]).toEqual(['refs/jackin/t/2']);
    await scene.run(['push', '--all', `file://${remote}`]);
    expect([...refsOf(remote).keys()]).toEqual(['refs/jackin/other/1', 'refs/jackin/t/1', 'refs/jackin/t/2']);
    const to = new Scene();
    await to.run(['fetch', remote], { instance: 'other' });
    expect([...refsOf(to.store).keys()]).toEqual(['refs/jackin/other/1']);
    const none = await to.json(['fetch', remote], { instance: 'none' });
    expect(none.document.messages).toEqual(['The remote has no snapshots of none.']);
    await scene.run(['push', remote, '9'], { code: 3 });
    await scene.run(['push', remote], { code: 3, instance: 'none' });
  });

  test('send only what the other side lacks', async () => {
    const { scene, remote } = await savedTwice();
    scene.write({ big: 'x'.repeat(10) + Array.from({ length: 40_000 }, (_, at) => at * 7919).join(' ') });
    await scene.save();
    await scene.run(['push', remote]);
    await scene.run(['gc']);
    scene.write({ a: 'once more\n' });
    await scene.save();
    userGit(remote, ['config', 'receive.unpackLimit', '1']);
    await scene.run(['push', remote]);
    const packs = readdirSync(join(remote, 'objects/pack')).filter((name) => name.endsWith('.pack'));
    const sizes = packs.map((name) => statSync(join(remote, 'objects/pack', name)).size);
    expect(sizes).toEqual([expect.any(Number)]);
    expect(sizes[0]).toBeLessThan(10_000);
    const to = new Scene();
    await to.run(['fetch', remote]);
    expect(refsIn(to)).toEqual(refsIn(scene));
  });
});

describe('two instances of one name', () => {
  test('are never mixed: nothing of it is pushed or fetched, all else is', async () => {
    const { scene, remote } = await savedTwice();
    await scene.run(['push', remote]);
    const before = refsOf(remote);
    const to = new Scene();
    to.write({ mine: 'm\n' });
    await to.save();
    await to.save(['-m', 'x']);
    await to.save(['-m', 'y']);
    await to.save([], { instance: 'other', dirs: [to.folder('other', { o: 'o' })] });
    const own = refsIn(to);
    const pushed = await to.json(['push', '--all', remote], { code: 4 });
    const reasons = (pushed.data.refused as { seq: number; reason: string }[]).map(({ seq, reason }) => [seq, reason]);
    expect(reasons).toEqual([
      [1, 'other_snapshot'],
      [2, 'other_snapshot'],
      [3, 'other_history'],
    ]);
    expect(pushed.data.pushed).toMatchObject([{ instance: 'other', seq: 1 }]);
    expect([...refsOf(remote)].filter(([name]) => name.includes('/t/'))).toEqual([...before]);
    const text = await to.run(['-q', 'push', remote], { code: 4 });
    expect(text.stdout).toContain('Refused: t/3: the other side has another instance of this name.');
    const fetched = await to.json(['fetch', '--all', remote], { code: 4 });
    expect(fetched.data).toMatchObject({ fetched: [], refused: [{ seq: 1 }, { seq: 2 }] });
    expect(refsIn(to)).toEqual(own);
  });
});

describe('what is left out of a push unless it is asked for', () => {
  test('secrets that a save was told to include', async () => {
    const { scene, remote } = await savedTwice();
    scene.write({ '.env': 'TOKEN=x\n' });
    await scene.save(['--include-secrets']);
    const pushed = await scene.json(['push', remote]);
    expect(pushed.data.left_out).toMatchObject([{ seq: 3, reason: 'secrets' }]);
    expect(refsOf(remote).size).toBe(2);
    await scene.run(['push', '--include-secrets', remote]);
    expect(refsOf(remote).size).toBe(3);
  });

  test("state of a session's agents", async () => {
    const scene = new Scene();
    const jackin = new FakeJackin(scene.area);
    const shop = scene.folder('shop', { a: 'a\n' });
    jackin.workspace(
      'shop',
      `[[mounts]]\nsrc = "${shop}"\ndst = "/workspace"\n[recovery]\nsnapshot = "project-and-state"\n`,
    );
    const container = jackin.session({ status: 'preserved_dirty' });
    jackin.exited(container, 0);
    const settings = join(jackin.data, container, 'home', '.claude/settings.json');
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, '{ "model": "opus" }\n');
    const options = { env: jackin.env, instance: container, cwd: scene.outside };
    expect((await scene.json(['save'], options)).data.state).toMatchObject({ stored: true });
    const remote = bareRepository(join(scene.area, 'remote.git'));
    const left = await scene.run(['push', remote], options);
    expect(left.stdout).toContain("it holds state of a session's agents");
    expect(refsOf(remote).size).toBe(0);
    await scene.run(['push', '--state', remote], options);
    const to = new Scene();
    await to.run(['fetch', remote], { instance: container });
    await to.run(['verify', '--full'], { instance: container });
    expect(refsIn(to)).toEqual(refsIn(scene));
  });

  test('snapshots that are damaged', async () => {
    const { scene, remote } = await savedTwice();
    writeFileSync(join(scene.store, 'refs/jackin/t/2'), 'torn');
    const pushed = await scene.json(['push', remote], { code: 7 });
    expect(pushed.data).toMatchObject({ pushed: [{ seq: 1 }], left_out: [{ seq: 2, reason: 'damaged' }] });
    const fetched = await scene.json(['fetch', remote]);
    expect(fetched.data).toMatchObject({ present: [{ seq: 1 }], fetched: [] });
  });
});

test('a fetch that is killed at any of its changes leaves the old state or the new one', async () => {
  const { scene, remote } = await savedTwice();
  await scene.save([], { instance: 'other', dirs: [scene.folder('other', { o: 'o' })] });
  await scene.run(['push', '--all', remote]);
  const dying = (to: Scene, at: number, log?: string): Record<string, string> => ({
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'die-at.js')}`,
    DIE_BELOW: to.dataDir,
    DIE_AT: String(at),
    ...(log === undefined ? {} : { DIE_LOG: log }),
  });
  const fetching = ['fetch', '--all', remote];
  const prepared = async (): Promise<Scene> => {
    const to = new Scene();
    to.write({ x: 'x' });
    await to.save([], { instance: 'own' });
    return to;
  };
  const counted = await prepared();
  const log = join(counted.area, 'log');
  await counted.run(fetching, { env: dying(counted, 0, log) });
  const count = readFileSync(log, 'utf8').trimEnd().split('\n').length;
  for (let at = 1; at <= count; at += everyMoment ? 1 : Math.max(1, Math.ceil(count / 8))) {
    const to = await prepared();
    await to.start(fetching, { env: dying(to, at) }).done;
    const left = [...refsOf(to.store).keys()].filter((name) => name.startsWith('refs/jackin/t/'));
    expect([0, 2], `killed at ${at}`).toContain(left.length);
    await to.run(['verify'], { instance: 'own' });
    await to.run(fetching);
    expect(refsIn(to).filter(([name]) => !name.includes('/own/'))).toEqual(refsIn(scene));
    await to.save(['-m', 'z'], { instance: 'own' });
    expect([leftovers(to.dataDir), fsckStrict(to.dataDir)], `killed at ${at}`).toEqual([[], []]);
  }
  expect(packsIn(counted).length).toBeGreaterThan(0);
  expect(userGitText(remote, ['fsck', '--strict', '--full'])).not.toContain('error');
});

test('two that fetch at once, and one that saves, get in nobody’s way', async () => {
  const { scene, remote } = await savedTwice();
  await scene.run(['push', remote]);
  const to = new Scene();
  to.write({ x: 'x' });
  const runs = await Promise.all([
    to.json(['fetch', '--all', remote], { instance: null }),
    to.json(['fetch', '--all', remote], { instance: null }),
    to.save([], { instance: 'own' }),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(refsIn(to).filter(([name]) => !name.includes('/own/'))).toEqual(refsIn(scene));
  expect(fsckStrict(to.dataDir)).toEqual([]);
});
