import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectSame, planned, remember, rememberUntouched, said } from './scene.js';
import { type StateScene, canary, everythingIn, expectDocument, filesIn, kept, sceneWithState } from './state-scene.js';

describe('show of a snapshot with state', () => {
  test('says whose it is, of what kind, and what was left out and why', async () => {
    const { run, scene, jackin, home } = sceneWithState();
    await run(['save']);
    const shown = await run(['show', '1']);
    expectDocument(shown);
    const { state } = shown.data;
    expect(state).toMatchObject({ stored: true, name: 'state', path: home, files: kept.length });
    expect(state.size_bytes).toBe(kept.reduce((sum, path) => sum + statSync(join(home, path)).size, 0));
    expect(state.contents.map(({ agent, kind, files }: Record<string, unknown>) => [agent, kind, files])).toEqual([
      ['amp', 'settings', 1],
      ['claude', 'agents', 1],
      ['claude', 'plugins', 1],
      ['claude', 'settings', 1],
      ['codex', 'settings', 1],
      ['grok', 'skills', 1],
      ['opencode', 'settings', 1],
    ]);
    const reasons = Object.fromEntries(
      state.left_out.map(({ path, reason }: { path: string; reason: string }) => [path, reason]),
    );
    expect(reasons).toMatchObject({
      '.claude.json': 'credential',
      '.claude/.credentials.json': 'credential',
      '.claude/plugins/known/credentials.json': 'credential',
      '.codex/auth.json': 'credential',
      '.claude/plugins/leaky.json': 'secret',
      '.claude/settings.local.json': 'secret',
      '.claude/projects': 'excluded',
    });
    const text = await scene.run(['show', `${String(shown.data.snapshot.instance)}/1`], {
      env: jackin.env,
      instance: null,
    });
    expect(text.stdout).toContain('claude: agents 1');
    expect(text.stdout).toContain('restore jk-k7p2m9xa-shop-smith/1 --state --to DIR');
    expect(said(shown) + said(text)).not.toContain(canary);
  });

  test('says nothing of it where none was wanted, and why there is none where it was', async () => {
    const { run, workspace, scene, jackin, container } = sceneWithState();
    workspace('[claude]\nauth_forward = "telepathy"\n');
    await run(['save']);
    expect((await run(['show', '1'])).data.state).toEqual({ stored: false, reason: 'mode_unknown' });
    const text = await scene.run(['show', '1'], { env: jackin.env, instance: container });
    expect(text.stdout).toContain('how a login is handed over was not known');
    await run(['instance', 'set', 'snapshot=project']);
    await run(['save']);
    expect((await run(['show', '2'])).data).not.toHaveProperty('state');
    expect((await run(['recovery', 'show', container])).data.latest_holds_state).toBe(false);
  });
});

describe('restore --state', () => {
  test.each([
    { what: 'restore', words: () => ['restore', '1', '--state', '--yes'] },
    { what: 'a dry run', words: () => ['restore', '1', '--state', '--dry-run'] },
    { what: '--force', words: () => ['restore', '1', '--state', '--force', '--yes'] },
    { what: 'recovery', words: (name: string) => ['recovery', 'restore', name, '--state', '--yes'] },
  ])('is refused in place, and changes nothing: $what', async ({ words }) => {
    const { run, shop, jackin, container, write, home } = sceneWithState();
    await run(['save']);
    write('.claude/settings.json', 'changed\n');
    writeFileSync(join(shop, 'a'), 'changed\n');
    const [before, folder] = [rememberUntouched(jackin.home), rememberUntouched(shop)];
    const { document } = await run(words(container), { code: 4 });
    expect(document.error).toMatchObject({ code: 'JACKIN_OWNED', paths: [home] });
    expect(document.error?.hint).toContain(`restore ${container}/1 --state --to DIR`);
    expectSame(before, "jackin's home");
    expectSame(folder);
    expect((await run(['list'])).data.snapshots).toHaveLength(1);
  });

  test.each(['restore', 'recovery'])('with --to writes folders and state side by side, exactly: %s', async (verb) => {
    const { run, scene, home, jackin, container } = sceneWithState();
    chmodSync(join(home, '.claude/agents'), 0o750);
    chmodSync(join(home, '.claude/agents/reviewer.md'), 0o600);
    chmodSync(join(home, '.grok/skills/one/SKILL.md'), 0o755);
    symlinkSync('reviewer.md', join(home, '.claude/agents/link.md'));
    await run(['save']);
    const before = rememberUntouched(jackin.home);
    const to = join(scene.area, 'back');
    const words = verb === 'restore' ? ['restore', '1'] : ['recovery', 'restore', container];
    const done = await run([...words, '--state', '--to', to, '--yes']);
    expectDocument(done);
    expect(done.data.rollback_summary).toMatchObject({ emergency_snapshot: null, deleted_files_count: 0 });
    expect(done.data.post_rollback_state.verified).toBe(true);
    expect(done.data.destination).toBe(to);
    expect(done.document.messages.join('\n')).toContain(
      `state is in ${join(to, 'state')}. What you want of it in ${home}`,
    );
    expect(filesIn(join(to, 'state')).sort()).toEqual([...kept, '.claude/agents/link.md'].sort());
    for (const path of kept) {
      expect(readFileSync(join(to, 'state', path))).toEqual(readFileSync(join(home, path)));
      expect(statSync(join(to, 'state', path)).mode).toBe(statSync(join(home, path)).mode);
    }
    expect(statSync(join(to, 'state/.claude/agents')).mode & 0o7777).toBe(0o750);
    expect(readFileSync(join(to, 'workspace/a'), 'utf8')).toBe('a\n');
    expect(statSync(to).mode & 0o7777).toBe(0o700);
    expect(everythingIn(to)).not.toContain(canary);
    expectSame(before, "jackin's home");
    expect((await run(['list'])).data.snapshots).toHaveLength(1);
  });

  test('can be of the state alone, or of one folder in it', async () => {
    const { run, scene } = sceneWithState();
    await run(['save']);
    const [whole, part] = [join(scene.area, 'whole'), join(scene.area, 'part')];
    await run(['restore', '1', '--state', '--mount', 'state', '--to', whole, '--yes']);
    expect(filesIn(whole).every((path) => path.startsWith('state/'))).toBe(true);
    expect(filesIn(whole)).toHaveLength(kept.length);
    await run(['restore', '1', '--state', '--to', part, '--yes', '--', 'state:.claude/agents']);
    expect(filesIn(part)).toEqual(['state/.claude/agents/reviewer.md']);
    await run(['restore', '1', '--mount', 'state', '--to', join(scene.area, 'none'), '--yes'], { code: 3 });
  });

  test('shows exact host paths first, and a dry run makes nothing', async () => {
    const { run, scene } = sceneWithState();
    await run(['save']);
    const to = join(scene.area, 'back');
    const dry = await run(['restore', '1', '--state', '--to', to, '--dry-run']);
    expect(planned(dry)).toContain('create .claude/settings.json');
    expect(dry.data.plan.map(({ host_path: path }: { host_path: string }) => path)).toContain(
      join(to, 'state/.claude/settings.json'),
    );
    expect(existsSync(to)).toBe(false);
    await run(['restore', '1', '--state', '--to', to], { code: 5 });
    expect(existsSync(to)).toBe(false);
  });

  test('needs neither the home, nor jackin, nor our record, nor a way of login that is known', async () => {
    const { run, scene, jackin, container, home, workspace } = sceneWithState();
    await run(['save']);
    rmSync(home, { recursive: true });
    workspace('[claude]\nauth_forward = "telepathy"\n');
    await run(['restore', '1', '--state', '--to', join(scene.area, 'gone'), '--yes']);
    jackin.purge(container);
    rmSync(join(scene.dataDir, 'instances', container), { recursive: true });
    rmSync(jackin.home, { recursive: true });
    await run(['recovery', 'restore', container, '--state', '--to', join(scene.area, 'purged'), '--yes']);
    for (const name of ['gone', 'purged']) expect(filesIn(join(scene.area, name, 'state'))).toHaveLength(kept.length);
  });

  test.each(['restore', 'export'])('says where there is none: %s', async (verb) => {
    const { run, scene } = sceneWithState();
    await run(['instance', 'import', 'jackin', 'k7p2m9xa']);
    await run(['instance', 'set', 'snapshot=project']);
    await run(['save']);
    const to = join(scene.area, 'to');
    const words = verb === 'export' ? ['export', '1', to, '--state'] : ['restore', '1', '--state', '--to', to, '--yes'];
    expect((await run(words, { code: 3 })).document.error).toMatchObject({ code: 'STATE_ABSENT' });
    expect(existsSync(to)).toBe(false);
  });

  test.each([
    { what: 'the data itself', place: ({ jackin }: StateScene) => join(jackin.data, 'back') },
    { what: 'the home', place: ({ home }: StateScene) => home },
    { what: 'below the home', place: ({ home }: StateScene) => join(home, '.claude/back') },
    {
      what: 'through a link',
      place: ({ jackin, scene }: StateScene) => {
        symlinkSync(jackin.data, join(scene.area, 'lead'));
        return join(scene.area, 'lead/back');
      },
    },
    {
      what: 'where the data is by now',
      place: ({ scene }: StateScene) => join(scene.area, 'moved/data/back'),
      env: ({ scene }: StateScene) => {
        mkdirSync(join(scene.area, 'moved/data'), { recursive: true });
        return { JACKIN_HOME_DIR: join(scene.area, 'moved') };
      },
    },
  ])("never writes in jackin's data: $what", async ({ place, env }) => {
    const all = sceneWithState();
    const { run, jackin } = all;
    await run(['save']);
    const to = place(all);
    const environment = { ...jackin.env, ...env?.(all) };
    const before = rememberUntouched(jackin.home);
    for (const words of [
      ['restore', '1', '--state', '--yes', '--to', to],
      ['restore', '1', '--state', '--dry-run', '--to', to],
      ['export', '1', to, '--state'],
      ['export', '1', `${to}.tar`, '--state'],
    ]) {
      const { document } = await run(words, { code: 4, env: environment });
      expect(document.error?.code, words.join(' ')).toBe('JACKIN_OWNED');
    }
    expectSame(before, "jackin's home");
  });

  test("never writes in jackin's data by the name of a mount", async () => {
    const { run, scene, jackin } = sceneWithState();
    const own = scene.folder('own', { b: 'b\n' });
    const table = `[[mounts]]\nsrc = "${own}"\ndst = "/data"\n[recovery]\nsnapshot = "project-and-state"\n`;
    jackin.workspace('shop', table);
    await run(['save']);
    const to = join(scene.area, 'new');
    const env = { ...jackin.env, JACKIN_HOME_DIR: to };
    const { document } = await run(['restore', '1', '--state', '--to', to, '--yes'], { code: 4, env });
    expect(document.error?.code).toBe('JACKIN_OWNED');
    expect(existsSync(to)).toBe(false);
    await run(['restore', '1', '--state', '--to', to, '--yes']);
    expect(filesIn(to)).toContain('data/b');
  });

  test('goes through no link that waits for it, and overwrites nothing', async () => {
    const { run, scene } = sceneWithState();
    await run(['save']);
    const victim = scene.folder('victim', { 'keep.txt': 'keep\n' });
    const untouched = remember(victim);
    const to = join(scene.area, 'to');
    mkdirSync(to);
    symlinkSync(victim, join(to, 'state'));
    const link = join(scene.area, 'link');
    symlinkSync(victim, link);
    for (const place of [to, link, victim, join(scene.dataDir, 'in')]) {
      const run1 = await run(['restore', '1', '--state', '--to', place, '--yes'], { code: [2, 4] });
      expect(['DESTINATION_EXISTS', 'USAGE']).toContain(run1.document.error?.code);
    }
    expectSame(untouched);
    expect(existsSync(join(scene.dataDir, 'in'))).toBe(false);
  });

  test('that is killed leaves jackin and the snapshots as they were, and can be done again elsewhere', async () => {
    const { run, scene, jackin, container, write } = sceneWithState();
    for (let number = 0; number < 40; number++) write(`.claude/skills/s${String(number)}/SKILL.md`, 'A skill.\n');
    await run(['save']);
    const before = rememberUntouched(jackin.home);
    const hook = `--import=${join(import.meta.dirname, 'die-at.js')}`;
    for (const at of [2, 5, 20, 60]) {
      const to = join(scene.area, `back-${String(at)}`);
      const env = { ...jackin.env, NODE_OPTIONS: hook, DIE_BELOW: to, DIE_AT: String(at) };
      const words = ['restore', '1', '--state', '--to', to, '--yes'];
      const { signal } = await scene.start(words, { env, instance: container, cwd: scene.outside }).done;
      expect(signal).toBe('SIGKILL');
      for (const path of filesIn(to)) expect(statSync(join(to, path)).mode & 0o077 & ~0o044).toBe(0);
      await run(words, { code: at === 2 ? [0, 4] : 4 });
    }
    expectSame(before, "jackin's home");
    await run(['restore', '1', '--state', '--to', join(scene.area, 'again'), '--yes']);
    expect(filesIn(join(scene.area, 'again/state'))).toHaveLength(kept.length + 40);
    await run(['verify', '--full']);
  });
});
