import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FakeJackin } from '../support/jackin-home.js';
import { createHistory } from '../support/user-git.js';
import { Scene, expectSame, rememberUntouched, trap } from './scene.js';

function sceneWithJackin() {
  const scene = new Scene();
  const jackin = new FakeJackin(scene.area);
  const run = (args: readonly string[], options: { code?: number; instance?: string; stdin?: string } = {}) =>
    scene.json(args, { env: jackin.env, instance: null, cwd: scene.outside, ...options });
  return { scene, jackin, run };
}

const mount = (src: string, dst: string, more = '') => `[[mounts]]\nsrc = "${src}"\ndst = "${dst}"\n${more}\n`;

describe('a save of a session finds its folders', () => {
  test('in the workspace file and the global mounts, and leaves out what is read-only, gone or secret', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    const [shop, docs, cache] = ['shop', 'docs', 'cache'].map((name) => scene.folder(name, { a: `${name}\n` }));
    const secrets = scene.folder('.ssh', { id: 'key\n' });
    jackin.workspace(
      'shop',
      mount(shop ?? '', '/workspace') +
        mount(docs ?? '', '/docs', 'readonly = true') +
        mount('/nowhere/at/all', '/gone') +
        mount(secrets, '/secrets') +
        mount(join(shop ?? '', 'inner'), '/inner'),
    );
    scene.folder('shop/inner');
    jackin.config(
      `dirty_exit_policy = "keep"\n[docker.mounts]\ncache = { src = "${cache ?? ''}", dst = "/cache" }\n` +
        `[docker.mounts."other/*"]\nmore = { src = "${cache ?? ''}", dst = "/other" }\n` +
        '[env]\nPLAIN = "a value"\nTOKEN = "op://vault/item/field"\nFROM_HOST = "$EDITOR"\n',
    );
    const container = jackin.session();
    const before = rememberUntouched(jackin.home);

    const saved = await run(['save'], { instance: container });
    expect(saved.data.snapshot).toMatchObject({ instance: container, seq: 1 });
    expect(saved.data.mounts.map(({ name, path }: { name: string; path: string }) => [name, path])).toEqual([
      ['workspace', shop],
      ['cache', cache],
    ]);
    expect(saved.document.messages.join('\n')).toContain('/docs is left out: it is read-only');

    const { data } = await run(['recovery', 'show', container]);
    const sources = Object.fromEntries(data.mounts.map((m: { name: string; source: string }) => [m.name, m.source]));
    expect(sources).toEqual({ cache: 'global', workspace: 'workspace' });
    const reasons = data.left_out.map((left: { container_path: string; reason: string }) => [
      left.container_path,
      left.reason,
    ]);
    expect(Object.fromEntries(reasons)).toEqual({
      '/docs': 'read_only',
      '/gone': 'missing',
      '/secrets': 'unsafe',
      '/inner': 'inside_another',
    });
    expect(data).toMatchObject({
      cleanup: 'keep',
      launch: { agent: 'claude', workspace: 'shop', image: 'jk_smith:latest' },
    });
    expect(data.launch.environment).toEqual([
      { name: 'PLAIN', from: 'global', kind: 'literal' },
      { name: 'TOKEN', from: 'global', kind: 'secret_store' },
      { name: 'FROM_HOST', from: 'global', kind: 'host' },
    ]);
    expect(readRecord(scene, container)).not.toMatch(/a value|op:\/\//);
    expectSame(before, "jackin's home");
  });

  test("in the isolation file, before the container's own list, before what is configured", async () => {
    const { scene, jackin, run } = sceneWithJackin();
    const repository = join(scene.area, 'repository');
    createHistory(repository);
    const [listed, configured] = ['listed', 'configured'].map((name) => scene.folder(name, { a: 'a\n' }));
    jackin.workspace(
      'shop',
      mount(repository, '/workspace', 'isolation = "worktree"') + mount(configured ?? '', '/data'),
    );
    const container = jackin.session();
    const tree = jackin.worktree(container, repository, '/workspace');
    jackin.running(container, [
      { Type: 'bind', Source: tree.path, Destination: '/workspace', RW: true },
      { Type: 'bind', Source: listed, Destination: '/data', RW: true },
      { Type: 'bind', Source: join(jackin.data, container, 'home/.claude.json'), Destination: '/home/a', RW: true },
      { Type: 'volume', Source: '/var/lib/docker/v', Destination: '/certs', RW: true },
    ]);
    await run(['save'], { instance: container });
    const { data } = await run(['recovery', 'show', container]);
    expect(data.mounts).toMatchObject([
      { name: 'data', path: listed, source: 'container', isolation: null, kind: 'plain' },
      {
        name: 'workspace',
        path: tree.path,
        source: 'isolation',
        kind: 'worktree',
        branch: tree.branch,
        base_commit: tree.base,
        isolation: {
          kind: 'worktree',
          original: repository,
          branch: tree.branch,
          base_commit: tree.base,
          cleanup_status: 'active',
        },
      },
    ]);
    expect(data.session).toMatchObject({ status: 'running', container: 'running' });
  });

  test('but not by its name alone: what jackin has not is an ordinary folder, and named folders are what they are', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    scene.folder('out', { a: 'a\n' });
    const saved = await run(['save'], { instance: 'jk-unknown-smith' });
    expect(saved.data.mounts[0].path).toBe(scene.outside);
    const container = jackin.session();
    const named = await run(['save', scene.folder('named', { a: 'a\n' })], { instance: container });
    expect(named.data.mounts.map(({ name }: { name: string }) => name)).toEqual(['named']);
  });
});

describe('instance import jackin', () => {
  test('lists what there is, with what became of it, and changes nothing', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    jackin.session({ id: 'aaaaaaaa', status: 'failed_setup', outcome: 'exit:137' });
    jackin.session({ id: 'bbbbbbbb', status: 'active' });
    jackin.session({ id: 'cccccccc', status: 'failed_setup' });
    const running = jackin.session({ id: 'dddddddd', status: 'crashed' });
    jackin.running(running);
    const crashed = jackin.session({ id: 'eeeeeeee', status: 'running' });
    jackin.exited(crashed, 2);
    const { data } = await run(['instance', 'import', 'jackin']);
    const statuses = data.sessions.map((s: { id: string; status: string; recorded: string }) => [s.id, s.status]);
    expect(Object.fromEntries(statuses)).toEqual({
      aaaaaaaa: 'killed_by_host',
      bbbbbbbb: 'killed_by_host',
      cccccccc: 'failed_setup',
      dddddddd: 'running',
      eeeeeeee: 'crashed',
    });
    expect((await run(['instance', 'list'])).data.instances).toEqual([]);
    expect(readdirSync(scene.area)).not.toContain('data');
  });

  test.each(['k7p2m9xa', 'smith', 'jk-k7p2m9xa-shop-smith'])('by %s, again and again', async (selector) => {
    const { scene, jackin, run } = sceneWithJackin();
    const [shop, later] = ['shop', 'later'].map((name) => scene.folder(name, { a: 'a\n' }));
    jackin.workspace('shop', mount(shop ?? '', '/workspace'));
    const container = jackin.session();
    const first = await run(['instance', 'import', 'jackin', selector]);
    expect(first.data.imported).toMatchObject([{ name: container, mounts: [{ name: 'workspace', path: shop }] }]);
    jackin.workspace('shop', mount(later ?? '', '/more/workspace') + mount(shop ?? '', '/code'));
    const again = await run(['instance', 'import', 'jackin', selector]);
    const names = again.data.imported[0].mounts.map(({ name, path }: { name: string; path: string }) => [path, name]);
    // Snapshots know a folder by the name that it had.
    expect(Object.fromEntries(names)).toEqual({ [shop ?? '']: 'workspace', [later ?? '']: 'workspace-2' });
  });

  test('goes by a plan before the configuration, and by what is named before all', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    const [configured, planned, named] = ['configured', 'planned', 'named'].map((name) => scene.folder(name));
    jackin.workspace('shop', mount(configured ?? '', '/workspace') + mount(configured ?? '', '/ro', 'readonly = true'));
    const plan = {
      schema_version: 'v1',
      data: {
        workspace: 'shop',
        workdir: '/workspace',
        role: 'smith',
        mounts: [
          { host_src: planned, container_dest: '/workspace', isolation: 'shared' },
          { host_src: planned, container_dest: '/other', isolation: 'worktree' },
          { host_src: planned, container_dest: '/ro', isolation: 'shared' },
        ],
      },
    };
    const container = jackin.session();
    const args = ['instance', 'import', 'jackin', container, '--plan', '-'];
    const { data } = await run(args, { stdin: JSON.stringify(plan) });
    expect(data.imported[0].mounts).toMatchObject([{ name: 'workspace', path: planned }]);
    const shown = await run(['recovery', 'show', container]);
    expect(shown.data.left_out).toMatchObject([{ reason: 'not_made' }, { reason: 'read_only' }]);
    expect(shown.data.mounts[0].source).toBe('dry_run');

    const byHand = await run([...args, '--mount', `/workspace=${named ?? ''}`], { stdin: JSON.stringify(plan) });
    expect(byHand.data.imported[0].mounts).toMatchObject([{ path: named }]);
    await run([...args], { stdin: JSON.stringify({ ...plan, schema_version: 'v2' }), code: 2 });
  });

  test('--all imports what it can and names the rest', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    jackin.workspace('shop', mount(scene.folder('shop'), '/workspace'));
    jackin.session({ id: 'aaaaaaaa' });
    jackin.session({ id: 'bbbbbbbb', workspace: 'unheard' });
    jackin.session({ id: 'cccccccc', status: 'purged' });
    const { data, document } = await run(['instance', 'import', 'jackin', '--all']);
    expect(data.imported.map(({ name }: { name: string }) => name)).toEqual(['jk-aaaaaaaa-shop-smith']);
    expect(document.messages.join('\n')).toMatch(/No folder of jk-bbbbbbbb-unheard-smith is known/);
    const nobody = await run(['instance', 'import', 'jackin', 'nobody'], { code: 3 });
    expect(nobody.document.error?.code).toBe('JACKIN_NOT_FOUND');
  });
});

describe('what cannot be read is said with file, line and version', () => {
  test.each([
    ['[recovery]\nsnapshot = "projekt"\n', 'shop.toml:2: recovery.snapshot'],
    ['[recovery]\nsnapshot = "off"\nkeep_lsat = 3\n', 'shop.toml:3: recovery.keep_lsat'],
    ['[recovery]\nexclude = [\n  "a",\n  3,\n]\n', 'shop.toml:4: recovery.exclude.1'],
    ['a = 1\nb = [\n', 'shop.toml:3: it is no TOML'],
    ['[[mounts]]\nsrc = "relative"\ndst = "/w"\n', 'shop.toml:2: mounts.0.src'],
  ])('%j', async (toml, says) => {
    const { jackin, run } = sceneWithJackin();
    jackin.workspace('shop', toml);
    const refused = await run(['save'], { instance: jackin.session(), code: 2 });
    expect(refused.document.error?.code).toBe('CONFIGURATION_INVALID');
    expect(refused.document.error?.message).toContain(says);
  });

  test('a manifest, an isolation file and an index of other versions', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    jackin.workspace('shop', mount(scene.folder('shop'), '/workspace'));
    const container = jackin.session({ manifest: { version: 3 } });
    const manifest = await run(['save'], { instance: container, code: 2 });
    const file = join(jackin.data, container, '.jackin/instance.json');
    expect(manifest.document.error).toMatchObject({
      code: 'JACKIN_VERSION_UNKNOWN',
      message: `${file} is of version 3; this program reads version 2.`,
    });
    jackin.session();
    jackin.isolation(container, [], 2);
    const isolation = await run(['save'], { instance: container, code: 2 });
    expect(isolation.document.error?.message).toContain('isolation.json is of version 2; this program reads version 1');
    writeFileSync(join(jackin.data, 'instances.json'), '{\n"version": 1,\n');
    const index = await run(['instance', 'import', 'jackin'], { code: 2 });
    expect(index.document.error?.message).toMatch(/instances\.json:\d: it is no JSON/);
  });
});

describe('configuration of a workspace', () => {
  test.each([
    ['a table of its own', 'native'],
    ['the old layout', 'legacy'],
  ])('is taken from %s', async (_, layout) => {
    const { scene, jackin, run } = sceneWithJackin();
    const shop = scene.folder('shop', { a: 'a\n', 'x.log': 'log\n' });
    const settings = 'snapshot = "project"\nexclude = ["*.log"]\nkeep_last = 7\n';
    if (layout === 'native') jackin.workspace('shop', `${mount(shop, '/workspace')}[recovery]\n${settings}`);
    else
      jackin.config(
        `[workspaces.shop]\nworkdir = "/workspace"\n[[workspaces.shop.mounts]]\nsrc = "${shop}"\ndst = "/workspace"\n` +
          `[workspaces.shop.recovery]\n${settings}`,
      );
    const container = jackin.session();
    const saved = await run(['save'], { instance: container });
    expect(saved.data.observed_only).toMatchObject([{ path: 'x.log', reason: 'excluded' }]);
    const shown = await run(['instance', 'show'], { instance: container });
    expect(shown.data.instance.policy).toMatchObject({ keep_last: 7, exclude: ['*.log'], snapshot: 'project' });
  });

  test.each([
    { what: 'that has no such table', own: '', policy: { snapshot: 'off', exclude: ['*.log'], keep_last: 7 } },
    {
      what: 'whose table wins, key by key',
      own: '[recovery]\nexclude = ["*.tmp"]\nsnapshot = "project"\n',
      policy: { snapshot: 'project', exclude: ['*.tmp'], keep_last: 7 },
    },
  ])('is taken from the old layout beside a file $what', async ({ own, policy }) => {
    const { scene, jackin, run } = sceneWithJackin();
    jackin.workspace('shop', `${mount(scene.folder('shop'), '/workspace')}${own}`);
    jackin.config('[workspaces.shop.recovery]\nsnapshot = "off"\nexclude = ["*.log"]\nkeep_last = 7\n');
    const container = jackin.session();
    await run(['instance', 'import', 'jackin', container]);
    const shown = await run(['instance', 'show'], { instance: container });
    expect(shown.data.instance.policy).toMatchObject(policy);
  });

  test('in the old layout is checked beside a file, too', async () => {
    const { scene, jackin, run } = sceneWithJackin();
    jackin.workspace('shop', mount(scene.folder('shop'), '/workspace'));
    jackin.config('\n[workspaces.shop.recovery]\nsnapshot = "nonsense"\n');
    const refused = await run(['save'], { instance: jackin.session(), code: 2 });
    expect(refused.document.error?.code).toBe('CONFIGURATION_INVALID');
    expect(refused.document.error?.message).toContain('config.toml:3: workspaces.shop.recovery.snapshot');
  });
});

test('a docker that lies in the folder of a session is not run, nor one that gets what a mount says', async () => {
  const { scene, jackin, run } = sceneWithJackin();
  const mark = join(scene.outside, 'mark');
  const shop = scene.folder('shop', { 'bin/keep': '', a: 'a\n' });
  trap(join(shop, 'bin/docker'), mark);
  jackin.workspace('shop', mount(shop, '/workspace'));
  const container = jackin.session();
  const env = {
    ...jackin.env,
    PATH: `${join(shop, 'bin')}:${jackin.env['PATH'] ?? ''}`,
    DOCKER_CONFIG: shop,
    SECRET_TOKEN: 'x',
    DOCKER_HOST: 'unix:///d',
  };
  await scene.json(['save'], { env, instance: container, cwd: scene.outside });
  await scene.json(['recovery', 'show', container], { env, instance: null, cwd: scene.outside });
  expect(readdirSync(scene.outside)).toEqual([]);
  const call = readFileSync(jackin.lastCall, 'utf8');
  expect(call).toContain(`container inspect --format {{json .}} -- ${container}`);
  expect(call).toContain('DOCKER_HOST=unix:///d');
  expect(call).not.toMatch(/SECRET_TOKEN|DOCKER_CONFIG/);
  await run(['list'], { instance: container });
});

function readRecord(scene: Scene, instance: string): string {
  return readFileSync(join(scene.dataDir, 'instances', instance, 'instance.json'), 'utf8');
}
