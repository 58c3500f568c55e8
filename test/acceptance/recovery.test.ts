import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FakeJackin, type SessionOptions } from '../support/jackin-home.js';
import { createHistory, userGit, userGitText, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

interface Options {
  readonly code?: number;
  readonly instance?: string;
}

/** A session over one folder, saved once. */
async function savedSession(options: SessionOptions = {}, settings = '') {
  const scene = new Scene();
  const jackin = new FakeJackin(scene.area);
  const shop = scene.folder('shop', { 'a.txt': 'then\n', 'src/b.txt': 'b\n' });
  jackin.workspace('shop', `[[mounts]]\nsrc = "${shop}"\ndst = "/workspace"\n${settings}`);
  const container = jackin.session(options);
  const run = (args: readonly string[], { code, instance }: Options = {}) =>
    scene.json(args, {
      env: jackin.env,
      instance: instance ?? null,
      cwd: scene.outside,
      ...(code === undefined ? {} : { code }),
    });
  await run(['save', '-m', 'before'], { instance: container });
  return { scene, jackin, shop, container, run };
}

describe('recovery of a session that jackin has no more, whose record is lost too', () => {
  test.each(['jk-k7p2m9xa-shop-smith', 'k7p2m9xa', 'smith'])('by %s', async (selector) => {
    const { scene, jackin, shop, container, run } = await savedSession();
    const then = remember(shop);
    writeFiles(shop, { 'a.txt': 'now\n', new: 'n\n' });
    rmSync(join(shop, 'src'), { recursive: true });
    jackin.purge(container);
    rmSync(join(scene.dataDir, 'instances'), { recursive: true });

    const shown = await run(['recovery', 'show', selector]);
    expect(shown.data).toMatchObject({
      instance: container,
      recorded: false,
      active: false,
      session: { status: 'purged', recorded: null, container: 'not_found' },
      mounts: [{ name: 'workspace', path: shop, present: true, source: 'workspace', kind: 'plain' }],
      start: { seq: 1 },
    });
    expect(shown.data.launch.role).toEqual({
      key: 'smith',
      git: 'https://example.com/smith.git',
      ref: null,
      commit: 'f'.repeat(40),
    });
    const all = await run(['recovery', 'list']);
    expect(all.data.instances).toMatchObject([{ name: container, state: 'lost', snapshots: 1 }]);
    expect((await run(['recovery', 'list', selector])).data.snapshots).toMatchObject([{ seq: 1, message: 'before' }]);
    const diff = await run(['recovery', 'diff', selector, '--name-status']);
    expect(diff.data.output.split('\n').sort()).toEqual([
      '',
      'A\tworkspace/new',
      'D\tworkspace/src/b.txt',
      'M\tworkspace/a.txt',
    ]);
    const dry = await run(['recovery', 'restore', selector, '--dry-run']);
    expect(dry.data.plan).toHaveLength(4);
    await run(['recovery', 'restore', selector], { code: 5 });
    await run(['recovery', 'restore', selector, '1', '--yes', '--', 'a.txt']);
    expect(readFileSync(join(shop, 'a.txt'), 'utf8')).toBe('then\n');
    const restored = await run(['recovery', 'restore', selector, '1', '--yes']);
    expect(restored.data.post_rollback_state.verified).toBe(true);
    expectSame(then);
  });

  test('also where docker cannot be asked, for jackin removes a record only when it saw the container gone', async () => {
    const { scene, jackin, shop, container, run } = await savedSession();
    writeFiles(shop, { 'a.txt': 'now\n' });
    jackin.purge(container);
    jackin.dockerDown();
    await run(['recovery', 'restore', container, '--yes']);
    expect(readFileSync(join(shop, 'a.txt'), 'utf8')).toBe('then\n');
    expect(readdirSync(scene.outside)).toEqual([]);
  });
});

describe('a restore is refused while a container may work in the folder', () => {
  test.each(['created', 'running', 'paused', 'restarting', 'removing'])('that is %s', async (status) => {
    const { jackin, shop, container, run } = await savedSession({ status: 'clean_exited' });
    writeFiles(shop, { 'a.txt': 'now\n' });
    jackin.container(container, { State: { Status: status, ExitCode: 0, OOMKilled: false }, Mounts: [] });
    const untouched = rememberUntouched(shop);
    const refused = await run(['recovery', 'restore', container, '--yes'], { code: 4 });
    expect(refused.document.error).toMatchObject({ code: 'INSTANCE_ACTIVE' });
    expect(refused.document.error?.message).toContain(`container ${container} is ${status}`);
    expect(refused.document.error?.hint).toContain('stop its container');
    expectSame(untouched);
    const shown = await run(['instance', 'show'], { instance: container });
    expect(shown.data.instance).toMatchObject({ active: true, session: { container: status } });
  });

  test('or of which that cannot be found out, until it is forced', async () => {
    const { jackin, shop, container, run } = await savedSession({ status: 'crashed' });
    writeFiles(shop, { 'a.txt': 'now\n' });
    jackin.dockerDown();
    const refused = await run(['restore', '1', '--yes'], { instance: container, code: 4 });
    expect(refused.document.error?.message).toMatch(
      /whether container .* runs cannot be found out: docker failed: Cannot connect/,
    );
    const forced = await run(['restore', '1', '--yes', '--force'], { instance: container });
    expect(forced.document.messages.join('\n')).toContain('cannot be found out');
    expect(readFileSync(join(shop, 'a.txt'), 'utf8')).toBe('then\n');
  });

  test('or that is none of docker’s', async () => {
    const { container, run } = await savedSession({ manifest: { backend: 'apple_container' } });
    const { data } = await run(['recovery', 'show', container]);
    expect(data).toMatchObject({ active: true, session: { container: 'unknown' } });
  });

  test('also one of another instance over the same folder, and of one whose record is lost', async () => {
    const { scene, jackin, shop, container, run } = await savedSession();
    jackin.running(container);
    await run(['save', shop], { instance: 'plain' });
    writeFiles(shop, { 'a.txt': 'now\n' });
    const other = await run(['restore', '1', '--yes'], { instance: 'plain', code: 4 });
    expect(other.document.error?.message).toContain(container);
    rmSync(join(scene.dataDir, 'instances'), { recursive: true });
    await run(['recovery', 'restore', container, '--yes'], { code: 4 });
  });
});

describe('statuses tell the truth', () => {
  test.each<[SessionOptions, ((jackin: FakeJackin, container: string) => void) | null, string]>([
    [{ status: 'failed_setup', outcome: 'exit:137' }, null, 'killed_by_host'],
    [{ status: 'failed_setup', outcome: 'oom_killed' }, null, 'killed_by_host'],
    [{ status: 'failed_setup' }, null, 'failed_setup'],
    [{ status: 'active' }, null, 'killed_by_host'],
    [{ status: 'running' }, (jackin, container) => jackin.exited(container, 0, true), 'killed_by_host'],
    [{ status: 'running' }, (jackin, container) => jackin.exited(container, 137), 'killed_by_host'],
    [{ status: 'running' }, (jackin, container) => jackin.exited(container, 3), 'crashed'],
    [{ status: 'running' }, (jackin, container) => jackin.exited(container, 0), 'exited'],
    [{ status: 'crashed' }, (jackin, container) => jackin.running(container), 'running'],
    [{ status: 'preserved_dirty' }, null, 'preserved_dirty'],
    [{ status: 'active' }, (jackin) => jackin.dockerDown(), 'active'],
  ])('%j is %s', async (options, happens, status) => {
    const { jackin, container, run } = await savedSession(options);
    happens?.(jackin, container);
    const untouched = rememberUntouched(jackin.home);
    const listed = await run(['instance', 'list']);
    expect(listed.data.instances).toMatchObject([{ session: { status, recorded: options.status } }]);
    expectSame(untouched, "jackin's home");
  });
});

describe('a repository in the recovery index', () => {
  test('has its branch, its upstream, and how far it is ahead of that, where it can be known', async () => {
    const { scene, shop, container, run } = await savedSession();
    createHistory(shop);
    const seen = async () => {
      await run(['save'], { instance: container });
      const { data } = await run(['recovery', 'show', container]);
      const ref = `refs/jackin/${container}/${String(data.latest.seq)}`;
      const manifest = JSON.parse(userGitText(scene.store, ['cat-file', 'blob', `${ref}:meta/manifest.json`]));
      const [{ branch, upstream, ahead }] = data.mounts;
      return { branch, upstream, ahead, stored: manifest.mounts[0].repository.ahead as unknown };
    };
    const commit = (name: string): void => {
      writeFiles(shop, { [name]: name });
      userGit(shop, ['add', name]);
      userGit(shop, ['commit', '--quiet', '--message', name]);
    };
    expect(await seen()).toEqual({ branch: 'main', upstream: null, ahead: null, stored: undefined });
    userGit(shop, ['init', '--quiet', '--bare', join(scene.area, 'remote.git')]);
    userGit(shop, ['remote', 'add', 'origin', join(scene.area, 'remote.git')]);
    userGit(shop, ['push', '--quiet', '--set-upstream', 'origin', 'main']);
    const tracked = { branch: 'main', upstream: 'origin/main' };
    expect(await seen()).toEqual({ ...tracked, ahead: 0, stored: 0 });
    commit('one');
    commit('two');
    expect(await seen()).toEqual({ ...tracked, ahead: 2, stored: 2 });
    expect((await scene.run(['recovery', 'show', container], { instance: null })).stdout).toContain('2 ahead');
    userGit(shop, ['gc', '--quiet']);
    commit('three');
    expect(await seen()).toEqual({ ...tracked, ahead: 3, stored: 3 });
    // Whatever changes without the files, as a push does.
    userGit(shop, ['update-ref', 'refs/remotes/origin/main', 'HEAD~1']);
    expect(await seen()).toEqual({ ...tracked, ahead: 1, stored: 1 });
    userGit(shop, ['update-ref', '-d', 'refs/remotes/origin/main']);
    expect(await seen()).toEqual({ ...tracked, ahead: null, stored: undefined });
  });
});

describe('levels', () => {
  test('off: saves by hand are made and say so, automatic ones are not', async () => {
    const { container, run } = await savedSession({}, '[recovery]\nsnapshot = "off"\n');
    const byHand = await run(['save'], { instance: container });
    expect(byHand.document.messages.join('\n')).toContain('are off');
    const automatic = await run(['save', '--trigger', 'pre_write'], { instance: container, code: 4 });
    expect(automatic.document.error?.code).toBe('SNAPSHOTS_OFF');
  });

  test('off: a run is one without snapshots, of a session too of which there is none yet', async () => {
    const { jackin, run } = await savedSession({}, '[recovery]\nsnapshot = "off"\n');
    for (const instance of [jackin.session({ id: 'n3wn3wn3' }), 'jk-k7p2m9xa-shop-smith']) {
      const ran = await run(['run', '--', 'sh', '-c', 'exit 7'], { instance, code: 7 });
      expect(ran.data).toMatchObject({ instance, exit_code: 7, snapshot_level: 'off', before: null, after: null });
      expect(ran.document.messages).toEqual([expect.stringContaining(`instance ${instance} has snapshot=off`)]);
    }
  });

  test('metadata: nothing of a file is stored, what is known of repositories is, and a restore changes nothing', async () => {
    const { scene, container, shop, run } = await savedSession({}, '[recovery]\nsnapshot = "metadata"\n');
    createHistory(shop);
    writeFiles(shop, { 'a.txt': 'a text that is looked for\n' });
    const saved = await run(['save', '--if-changed'], { instance: container });
    expect(saved.data).toMatchObject({ created: true, stats: { files_stored: 0 }, observed_only: [], complete: true });
    expect(saved.data.mounts[0]).toMatchObject({ kind: 'clone', dirty: true, branch: 'main' });
    const stored = userGit(scene.store, ['cat-file', '--batch-all-objects', '--batch']).stdout;
    expect(stored).not.toContain('a text that is looked for');
    expect(stored).not.toContain('then');
    writeFiles(shop, { 'a.txt': 'changed\n', new: 'n\n' });
    rmSync(join(shop, 'src'), { recursive: true });
    const untouched = rememberUntouched(shop);
    const restored = await run(['recovery', 'restore', container, 'latest', '--yes']);
    expect(restored.data.plan).toEqual([]);
    await run(['recovery', 'restore', container, 'latest', '--yes', '--', 'a.txt'], { code: 3 });
    expectSame(untouched);
    expect((await run(['verify'])).data.sound).toBe(true);
    const { data } = await run(['recovery', 'show', container]);
    expect(data.snapshot_level).toBe('metadata');

    await run(['instance', 'set', 'snapshot=project'], { instance: container });
    const full = await run(['save'], { instance: container });
    expect(full.data.stats.files_stored).toBeGreaterThan(1);
    const then = remember(shop);
    writeFiles(shop, { 'a.txt': 'once more\n' });
    await run(['recovery', 'restore', container, 'latest', '--yes']);
    expectSame(then);
  });

  test('project-and-state is kept in the record', async () => {
    const { container, run } = await savedSession({}, '[recovery]\nsnapshot = "project-and-state"\n');
    expect((await run(['recovery', 'show', container])).data.snapshot_level).toBe('project-and-state');
  });
});

test('a folder that has nothing to do with jackin has a recovery index, too', async () => {
  const scene = new Scene();
  createHistory(scene.mount);
  await scene.save();
  const { data } = await scene.json(['recovery', 'show', 't'], { instance: null });
  expect(data).toMatchObject({
    instance: 't',
    recorded: true,
    session: null,
    jackin: null,
    launch: null,
    mounts: [{ name: 'm', path: scene.mount, source: 'named', isolation: null, kind: 'clone', dirty: false }],
  });
  const record = readFileSync(join(scene.dataDir, 'instances/t/instance.json'), 'utf8');
  expect(JSON.parse(record)).not.toHaveProperty('recovery');
  const nobody = await scene.json(['recovery', 'show', 'nobody'], { code: 3, instance: null });
  expect(nobody.document.error?.code).toBe('INSTANCE_NOT_FOUND');
});

test('a role key of several instances is ambiguous', async () => {
  const { jackin, run } = await savedSession();
  await run(['save'], { instance: jackin.session({ id: 'aaaaaaaa' }) });
  const ambiguous = await run(['recovery', 'show', 'smith'], { code: 2 });
  expect(ambiguous.document.error?.code).toBe('INSTANCE_AMBIGUOUS');
});
