import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectSame, rememberUntouched } from './scene.js';
import { canary, kept, sceneWithState, token } from './state-scene.js';

describe('a save of project and state', () => {
  test("stores the list of settings and plugins beside the folders, and nobody's login", async () => {
    const { run, stored, git, jackin, container, scene } = sceneWithState();
    const before = rememberUntouched(jackin.home);
    const saved = await run(['save']);
    expect(stored(1)).toEqual(kept);
    expect(saved.data.state).toMatchObject({ stored: true, name: 'state', files: 7 });
    const left = Object.fromEntries(
      saved.data.state.observed_only.map(({ path, reason }: { path: string; reason: string }) => [path, reason]),
    );
    expect(left).toMatchObject({
      '.claude.json': 'secret',
      '.claude/plugins/leaky.json': 'secret',
      '.claude/plugins/hushed.md': 'secret',
      '.claude/settings.local.json': 'secret',
      '.claude/plugins/known/.git': 'git_dir',
      '.claude/plugins/known/credentials.json': 'secret',
      '.claude/.credentials.json': 'secret',
      '.claude/projects': 'excluded',
      '.codex/auth.json': 'secret',
      '.kimi-code/config.toml': 'secret',
      '.local': 'excluded',
    });
    expect(saved.document.messages.join('\n')).toContain('.claude/plugins/leaky.json is left out');
    expect(saved.data.complete).toBe(true);
    const everything = git('cat-file', '--batch', '--batch-all-objects') + saved.stdout;
    expect(everything).not.toContain(canary);
    expect(everything).not.toContain(token);
    expect(git('fsck', '--strict', '--no-dangling')).not.toContain('error');
    expectSame(before, "jackin's home");

    const shown = await run(['show', '1']);
    expect(shown.data.mounts.map(({ name }: { name: string }) => name)).toEqual(['workspace']);
    await run(['verify', '--full']);
    await scene.run(['-i', container, 'drill'], { env: jackin.env, instance: null });
  });

  test('changes its snapshot when only the state changed, and none when nothing did', async () => {
    const { run, write } = sceneWithState();
    await run(['save']);
    expect((await run(['save', '--if-changed'])).data.created).toBe(false);
    write('.codex/config.toml', 'model = "another"\n');
    expect((await run(['save', '--if-changed'])).data.created).toBe(true);
  });

  test('never lets a restore, a copy or an export of the folders touch or hold it', async () => {
    const { run, scene, shop, home, write, jackin } = sceneWithState();
    await run(['save']);
    writeFileSync(join(shop, 'a'), 'changed\n');
    write('.claude/settings.json', 'changed\n');
    write('.claude/agents/new.md', 'new\n');
    await run(['restore', '1', '--yes']);
    expect(readFileSync(join(shop, 'a'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toBe('changed\n');
    await run(['undo', '--yes']);
    expect(existsSync(join(home, '.claude/agents/new.md'))).toBe(true);
    await run(['export', '1', join(scene.area, 'copy')]);
    await run(['restore', '1', '--to', join(scene.area, 'other'), '--yes']);
    for (const folder of ['copy', 'other']) {
      expect(readFileSync(join(scene.area, folder, 'a'), 'utf8')).toBe('a\n');
      expect(existsSync(join(scene.area, folder, '.claude'))).toBe(false);
    }
    expect(jackin.home).toBeTruthy();
  });

  test.each([
    { name: 'an unknown way of login', more: '[claude]\nauth_forward = "telepathy"\n', says: '"telepathy"' },
    {
      name: 'one that is no text',
      more: '[codex]\nauth_forward = 3\n',
      says: 'codex.auth_forward',
    },
    { name: "another agent's way", more: '[kimi]\nauth_forward = "oauth_token"\n', says: 'kimi.auth_forward' },
    { name: "github's way", more: '[claude]\nauth_forward = "token"\n', says: 'claude.auth_forward' },
    { name: 'one of the role', more: '[roles.smith.claude]\nauth_forward = "x"\n', says: '"x"' },
    { name: 'a file that cannot be read', more: '[claude\n', says: 'cannot be read', reason: 'mode_unreadable' },
  ])(
    'leaves state out where there is $name, and stores the folders',
    async ({ more, says, reason = 'mode_unknown' }) => {
      const { run, git, container, workspace } = sceneWithState();
      await run(['save']);
      workspace(more);
      const saved = await run(['save']);
      expect(saved.data.state).toMatchObject({ stored: false, reason });
      expect(saved.document.messages.join('\n')).toContain(says);
      expect((await run(['show', '2'])).data.state).toEqual({ stored: false, reason });
      expect(git('ls-tree', '--name-only', `refs/jackin/${container}/2:mounts`).trim()).toBe('workspace');
    },
  );

  test.each([
    ['claude', 'sync'],
    ['claude', 'api_key'],
    ['claude', 'oauth_token'],
    ['claude', 'ignore'],
    ['github', 'token'],
  ])('denies logins under %s %s, too', async (agent, mode) => {
    const { run, stored, workspace } = sceneWithState();
    workspace(`[${agent}]\nauth_forward = "${mode}"\n`);
    await run(['save']);
    expect(stored(1)).toContain('.claude/settings.json');
    expect(stored(1).filter((path) => /credentials|auth\.json|\.claude\.json/.test(path))).toEqual([]);
  });

  test('goes through no link, and leaves out what cannot be scanned', async () => {
    const { run, stored, write, home, scene } = sceneWithState({ '.claude/settings.json': '{}\n' });
    write('.claude/skills/binary.dat', Buffer.from([0, 1, 2]));
    write('.claude/skills/latin.md', Buffer.from([0xe9, 0x0a]));
    write('.claude/skills/large.md', 'x'.repeat(1024 * 1024 + 1));
    const elsewhere = scene.folder('elsewhere', { 'a.md': `${canary}\n` });
    symlinkSync(elsewhere, join(home, '.claude/agents'));
    symlinkSync(elsewhere, join(home, '.codex'));
    const saved = await run(['save']);
    expect(stored(1)).toEqual(['.claude/settings.json']);
    const reasons = saved.data.state.observed_only.map((one: { path: string; reason: string }) => one.reason);
    expect(reasons).toEqual(expect.arrayContaining(['unsupported', 'too_large', 'excluded']));
    expect(saved.data.complete).toBe(true);
  });

  test('says so where the home is a link, or jackin has nothing any more', async () => {
    const { run, home, scene, jackin, container } = sceneWithState();
    await run(['save']);
    rmSync(home, { recursive: true });
    symlinkSync(scene.folder('elsewhere', { '.claude/settings.json': canary }), home);
    expect((await run(['save'])).data.state).toMatchObject({ stored: false });
    jackin.purge(container);
    expect((await run(['save'])).data.state.why).toContain('any more');
    chmodSync(scene.area, 0o755);
  });

  test('has another name beside a mount of that name', async () => {
    const { run, stored, jackin, scene } = sceneWithState();
    const own = scene.folder('own', { b: 'b\n' });
    jackin.workspace(
      'shop',
      `[[mounts]]\nsrc = "${own}"\ndst = "/state"\n[recovery]\nsnapshot = "project-and-state"\n`,
    );
    const saved = await run(['save']);
    expect(saved.data.state.name).toBe('state-2');
    expect(stored(1)).toEqual(['b']);
    expect(stored(1, 'state-2')).toContain('.codex/config.toml');
  });
});
