import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectSame, rememberUntouched } from './scene.js';
import { canary, everythingIn, expectDocument, filesIn, kept, plant, sceneWithState, token } from './state-scene.js';

describe('state that may not leave', () => {
  const planted = {
    '.claude/agents/leak.md': `It is ${token}.\n`,
    '.claude/.credentials.json': `{ "t": "${canary}" }\n`,
    '.claude/plugins/x/credentials/one.json': `{ "t": "${canary}" }\n`,
    '.claude/plugins/x/%2egit/config': '[core]\n\tfsmonitor = touch /tmp/canary\n',
    '.claude/projects/p/session.jsonl': `${canary}\n`,
    '.bashrc': `echo ${canary}\n`,
  };

  test('is held back and named, although it is stored', async () => {
    const all = sceneWithState();
    const { run, scene } = all;
    await run(['save']);
    plant(all, planted);
    const to = join(scene.area, 'back');
    const done = await run(['restore', '1', '--state', '--to', to, '--yes'], { code: 6 });
    expectDocument(done);
    expect(done.data.failed).toEqual(
      expect.arrayContaining([
        { mount: 'state', path: '.claude/agents/leak.md', reason: 'secret' },
        { mount: 'state', path: '.claude/.credentials.json', reason: 'credential' },
        { mount: 'state', path: '.claude/plugins/x/credentials', reason: 'credential' },
        { mount: 'state', path: '.claude/plugins/x/.git', reason: 'git_dir' },
        { mount: 'state', path: '.claude/projects', reason: 'excluded' },
        { mount: 'state', path: '.bashrc', reason: 'excluded' },
      ]),
    );
    expect(filesIn(join(to, 'state')).sort()).toEqual(kept);
    const part = ['restore', '1', '--state', '--to', join(scene.area, 'part'), '--yes', '--', 'state:.claude/agents'];
    expect((await run(part, { code: 6 })).data.failed).toHaveLength(1);
    const only = ['restore', '1', '--state', '--to', join(scene.area, 'only'), '--yes', '--', 'state:.bashrc'];
    expect((await run(only, { code: 6 })).data.failed).toHaveLength(1);
    expect((await run(['export', '1', join(scene.area, 'copy'), '--state'])).document.messages.join('\n')).toContain(
      '.claude/agents/leak.md was not written: secret',
    );
    const tar = join(scene.area, 'copy.tar');
    expect((await run(['export', '1', tar, '--state'])).document.messages).toHaveLength(6);
    for (const folder of [to, join(scene.area, 'part'), join(scene.area, 'only'), join(scene.area, 'copy')]) {
      expect(everythingIn(folder)).not.toContain(canary);
      expect(everythingIn(folder)).not.toContain(token);
    }
    expect(readFileSync(tar, 'latin1')).not.toContain(canary);
    expect(readFileSync(tar, 'latin1')).not.toContain(token);
  });

  test('is left out of the next snapshot when a secret comes into a file that was clean', async () => {
    const { run, scene, write, git } = sceneWithState();
    await run(['save']);
    write('.claude/settings.json', `{ "note": "${token}" }\n`);
    const saved = await run(['save']);
    expect(saved.document.messages.join('\n')).toContain('.claude/settings.json is left out');
    expect((await run(['show', '2'])).data.state.left_out).toContainEqual({
      path: '.claude/settings.json',
      reason: 'secret',
    });
    await run(['restore', '1', '--state', '--to', join(scene.area, 'first'), '--yes']);
    await run(['restore', '2', '--state', '--to', join(scene.area, 'second'), '--yes']);
    expect(readFileSync(join(scene.area, 'first/state/.claude/settings.json'), 'utf8')).toBe('{ "model": "opus" }\n');
    expect(existsSync(join(scene.area, 'second/state/.claude/settings.json'))).toBe(false);
    expect(git('cat-file', '--batch', '--batch-all-objects')).not.toContain(token);
  });
});

describe('export', () => {
  test.each(['', '.tar', '.tar.gz'])(
    'leaves state out and says so, and takes it in when asked: "%s"',
    async (ending) => {
      const { run, scene, jackin, home } = sceneWithState();
      await run(['save']);
      const before = rememberUntouched(jackin.home);
      const [plain, full] = [join(scene.area, `plain${ending}`), join(scene.area, `full${ending}`)];
      const list = (path: string): string[] =>
        ending === ''
          ? filesIn(path)
          : execFileSync('tar', ['-tf', path], { encoding: 'utf8' })
              .split('\n')
              .filter((line) => line !== '' && !line.endsWith('/'));
      const without = await run(['export', '1', plain]);
      expectDocument(without);
      expect(without.data.state).toMatchObject({ included: false, name: 'state', path: home, files: kept.length });
      expect(without.document.messages.join('\n')).toContain('--state');
      expect(list(plain).map((path) => path.replace('./', ''))).toEqual(['a']);
      const all = await run(['export', '1', full, '--state']);
      expectDocument(all);
      expect(all.data).toMatchObject({ files: kept.length + 1, state: { included: true } });
      const told = ending === '' ? [expect.stringContaining(`state is in ${join(full, 'state')}`)] : [];
      expect(all.document.messages).toEqual(told);
      expect(list(full).sort()).toEqual([...kept.map((path) => `state/${path}`), 'workspace/a'].sort());
      expectSame(before, "jackin's home");
    },
  );
});

describe('diff', () => {
  test('does not take state for deleted, and shows what changed in it between two snapshots', async () => {
    const { run, write, shop, container } = sceneWithState();
    await run(['save']);
    expect((await run(['diff', '1', '--exit-code'])).data).toMatchObject({ exit_code: 0, output: '' });
    expect((await run(['recovery', 'diff', container])).data.output).toBe('');
    writeFileSync(join(shop, 'a'), 'b\n');
    expect((await run(['diff', '1', '--name-status'])).data.output).toBe('M\tworkspace/a\n');
    write('.codex/config.toml', 'model = "another"\n');
    await run(['save']);
    expect((await run(['diff', '1', '2', '--name-status'])).data.output).toBe(
      'M\tstate/.codex/config.toml\nM\tworkspace/a\n',
    );
  });
});

/** Every object in a file of its own. */
function unpackAll(store: string): void {
  const packs = join(store, 'objects/pack');
  const contents = readdirSync(packs)
    .filter((name) => name.endsWith('.pack'))
    .map((name) => readFileSync(join(packs, name)));
  for (const name of readdirSync(packs)) rmSync(join(packs, name));
  for (const input of contents) execFileSync('git', [`--git-dir=${store}`, 'unpack-objects', '-q'], { input });
}

describe('state that is damaged', () => {
  test('stops nobody who wants the folders, and is named', async () => {
    const { run, scene, shop, git, container } = sceneWithState();
    await run(['save']);
    const tree = git('rev-parse', `refs/jackin/${container}/1:mounts/state`).trim();
    unpackAll(scene.store);
    rmSync(join(scene.store, 'objects', tree.slice(0, 2), tree.slice(2)));
    const shown = await run(['show', '1']);
    expectDocument(shown);
    expect(shown.data).not.toHaveProperty('state');
    expect(shown.data.snapshot.restorable).toBe(false);
    expect(shown.document.messages.join('\n')).toContain('state is damaged');
    const copy = await run(['export', '1', join(scene.area, 'copy')]);
    expect(copy.document.messages.join('\n')).toContain('it is damaged');
    expect(readFileSync(join(scene.area, 'copy/a'), 'utf8')).toBe('a\n');
    writeFileSync(join(shop, 'a'), 'b\n');
    expect((await run(['diff', '1', '--name-status'])).data.output).toBe('M\tworkspace/a\n');
    const to = join(scene.area, 'to');
    await run(['restore', '1', '--state', '--to', to, '--yes'], { code: 7 });
    expect(existsSync(to)).toBe(false);
    await run(['export', '1', `${to}.tar`, '--state'], { code: 7 });
    expect(existsSync(`${to}.tar`)).toBe(false);
  });
});
