import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { commitFiles, createRepository, userGit, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, remember, rememberUntouched, said, trap } from './scene.js';

let scene: Scene;
let mark: string;
/** A program that must never run: it leaves a mark, and fails. */
let trapped: string;

beforeEach(() => {
  scene = new Scene();
  mark = join(scene.outside, 'RAN');
  trapped = trap(join(scene.home, 'trapped'), mark);
});

/** Every command that might start a git. */
async function useEverything(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const before = remember(scene.mount);
  await scene.save([], { env });
  scene.write({ a: 'changed\n', new: 'n\n' });
  await scene.save([], { env });
  await scene.restore(1, [], { env });
  expectSame(before);
  for (const command of ['diff 1 2', 'diff 1 2 --stat', 'diff 2', 'log -p', 'cat 1 -- a', 'verify --full', 'doctor'])
    await scene.run(command.split(' '), { env });
  await scene.run(['export', '1', join(scene.area, 'exported')], { env });
  await scene.run(['run', '--', 'true'], { env });
  await scene.run(['gc', '--yes'], { env, code: [0, 2] });
  expect(readdirSync(scene.outside), 'something ran that must not').toEqual([]);
}

/** The places where the user's, the machine's and the mount's git would look for its configuration. */
function configure(settings: Readonly<Record<string, string>>): void {
  const files = [join(scene.home, '.gitconfig'), join(scene.home, '.config/git/config')];
  for (const folder of ['.', 'nested']) {
    createRepository(scene.at(folder));
    commitFiles(scene.at(folder), { a: 'a\n' });
    files.push(scene.at(folder, '.git/config'));
  }
  mkdirSync(join(scene.home, '.config/git'), { recursive: true });
  for (const file of files)
    for (const [key, value] of Object.entries(settings)) userGit(scene.area, ['config', '-f', file, key, value]);
}

describe('what the configuration of the user or of the mount names is never run or obeyed', () => {
  test('signing, hooks, templates, file monitors, pagers, editors, external diffs, askpass, aliases', async () => {
    const template = join(scene.home, 'template');
    for (const hook of hooks) {
      trap(join(scene.home, 'hooks', hook), mark);
      trap(join(template, 'hooks', hook), mark);
    }
    configure({
      'commit.gpgSign': 'true',
      'tag.gpgSign': 'true',
      'push.gpgSign': 'true',
      'gpg.program': trapped,
      'gpg.ssh.program': trapped,
      'gpg.format': 'ssh',
      'core.hooksPath': join(scene.home, 'hooks'),
      'init.templateDir': template,
      'core.fsmonitor': trapped,
      'core.untrackedCache': 'true',
      'core.pager': trapped,
      'core.editor': trapped,
      'core.askPass': trapped,
      'core.sshCommand': trapped,
      'credential.helper': `!${trapped}`,
      'diff.external': trapped,
      'diff.bad.textconv': trapped,
      'diff.bad.command': trapped,
      'pager.diff': trapped,
      'pager.log': trapped,
      'interactive.diffFilter': trapped,
      'gc.recentObjectsHook': trapped,
      'uploadpack.packObjectsHook': trapped,
      'core.alternateRefsCommand': trapped,
      'core.attributesFile': join(scene.home, 'attributes'),
      'core.excludesFile': join(scene.home, 'excludes'),
      'core.bare': 'maybe',
      'core.compression': '99',
      'log.showSignature': 'true',
      'user.useConfigOnly': 'true',
      'safe.bareRepository': 'explicit',
      'core.repositoryFormatVersion': '7',
      'extensions.strange': 'true',
      'pack.packSizeLimit': '1',
      'transfer.hideRefs': 'refs/jackin',
      'core.warnAmbiguousRefs': 'nonsense',
    });
    writeFiles(scene.home, { attributes: '* diff=bad filter=bad\n', excludes: '*\n' });
    scene.write({ '.gitattributes': '* diff=bad filter=bad text eol=crlf\n' });
    await useEverything();

    const store = readdirSync(scene.store);
    expect(store.includes('hooks') ? readdirSync(join(scene.store, 'hooks')) : []).toEqual([]);
    expect(storeGit(scene.dataDir, ['cat-file', 'commit', 'refs/jackin/t/1']).stdout).not.toContain('gpgsig');
    expect(await scene.content(1, 'a')).toBe('a\n');
  });

  test('settings that git cannot read stop nobody', async () => {
    writeFiles(scene.home, { '.gitconfig': '[broken\n', '.config/git/config': '\0\xff[', '.config/git/ignore': '*\n' });
    createRepository(scene.mount);
    scene.write({ a: 'a\n', '.git/config': '[core\n\tnonsense = "\n', '.git/hooks/x': 'x' });
    await useEverything();
    expect(await scene.content(1, 'a')).toBe('a\n');
  });

  test('hooks, configuration, attributes and grafts planted in the store are not believed', async () => {
    scene.write({ a: 'a\n' });
    await scene.save([], { instance: 'planter' });
    for (const hook of hooks) trap(join(scene.store, 'hooks', hook), mark);
    for (const [key, value] of [
      ['core.hooksPath', join(scene.store, 'hooks')],
      ['core.fsmonitor', trapped],
      ['diff.external', trapped],
      ['diff.bad.textconv', trapped],
      ['core.pager', trapped],
      ['gpg.program', trapped],
      ['commit.gpgSign', 'true'],
      ['alias.diff', `!${trapped}`],
      ['gc.recentObjectsHook', trapped],
    ] as const)
      userGit(scene.area, ['config', '-f', join(scene.store, 'config'), key, value]);
    await useEverything();
    // A file that makes git see other bytes is worse than a program that it cannot start: it is named, and nothing done.
    for (const name of ['info/attributes', 'info/grafts', 'objects/info/alternates']) {
      writeFiles(scene.store, { [name]: '* diff=bad\n' });
      const refused = await scene.run(['verify'], { code: 7 });
      expect(said(refused)).toContain(name);
      rmSync(join(scene.store, name));
    }
    await scene.run(['verify']);
  });

  test('nested repositories whose .git file or configuration leads to a trap', async () => {
    createRepository(scene.at('real'));
    const settings = `fsmonitor = ${trapped}\n\tworktree = /\n\thooksPath = ${scene.home}\n`;
    writeFiles(scene.at('real'), { '.git/config': `[core]\n\t${settings}[include]\n\tpath = ${trapped}\n` });
    writeFiles(scene.at('real'), { '.git/hooks/post-checkout': '#!/bin/sh\n' });
    cpSync(trapped, scene.at('real/.git/hooks/post-index-change'));
    scene.write({ a: 'a\n', 'fake/.git': 'gitdir: ../real/.git\n', 'fake/x': 'x\n' });
    scene.write({ 'bare/HEAD': 'ref: refs/heads/main\n', 'bare/config': `[core]\n\tfsmonitor = ${trapped}\n` });
    mkdirSync(scene.at('bare/objects'));
    mkdirSync(scene.at('bare/refs'));
    await useEverything();
  });
});

describe('what the caller has in the environment redirects nothing', () => {
  test('neither to a repository of theirs, nor to programs, configuration or other files', async () => {
    const theirs = join(scene.area, 'theirs');
    createRepository(theirs);
    commitFiles(theirs, { u: 'u\n' });
    const untouched = rememberUntouched(theirs);
    scene.write({ a: 'a\n', 'nested/b': 'b\n' });
    createRepository(scene.at('nested'));
    const log = join(scene.outside, 'trace');
    await useEverything({
      GIT_DIR: join(theirs, '.git'),
      GIT_WORK_TREE: theirs,
      GIT_INDEX_FILE: join(theirs, '.git/index'),
      GIT_OBJECT_DIRECTORY: join(theirs, '.git/objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(theirs, '.git/objects'),
      GIT_COMMON_DIR: join(theirs, '.git'),
      GIT_NAMESPACE: 'theirs',
      GIT_CEILING_DIRECTORIES: '/',
      GIT_CONFIG_GLOBAL: join(scene.home, 'config'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: '/nonexistent',
      GIT_CONFIG_PARAMETERS: "'core.fsmonitor'='true'",
      GIT_EXTERNAL_DIFF: trapped,
      GIT_PAGER: trapped,
      PAGER: trapped,
      GIT_EDITOR: trapped,
      GIT_SSH_COMMAND: trapped,
      GIT_ASKPASS: trapped,
      GIT_TEMPLATE_DIR: scene.home,
      GIT_EXEC_PATH: scene.home,
      GIT_TRACE: log,
      GIT_TRACE2: log,
      GIT_TRACE2_EVENT: log,
      GIT_REPLACE_REF_BASE: 'refs/theirs/',
      GIT_LITERAL_PATHSPECS: '0',
      GIT_ICASE_PATHSPECS: '1',
      GIT_DEFAULT_HASH: 'sha256',
      GIT_AUTHOR_DATE: 'nonsense',
      GIT_COMMITTER_NAME: '',
      GIT_FLUSH: '0',
      GIT_QUARANTINE_PATH: theirs,
      GIT_ADVICE: '0',
      LESSOPEN: `|${trapped} %s`,
    });
    expectSame(untouched, 'the repository of the caller');
    expect(userGit(theirs, ['log', '--oneline']).stdout.trim().split('\n')).toHaveLength(1);
    expect(await scene.content(1, 'a')).toBe('a\n');
  });

  test('programs in the mount are not found, whatever PATH says', async () => {
    for (const name of ['git', 'flock', 'node', 'sh', 'less', 'python3', 'perl']) trap(scene.at('bin', name), mark);
    cpSync(scene.at('bin/git'), scene.at('git'));
    scene.write({ a: 'a\n' });
    const path = process.env['PATH'] ?? '/usr/bin:/bin';
    await useEverything({ PATH: `${scene.at('bin')}:.::${path}` });
  });

  test('messages of git are no logic: another language, or garbled', async () => {
    scene.write({ a: 'a\n' });
    const before = remember(scene.mount);
    await scene.save([], { env: { LC_ALL: 'zh_CN.UTF-8', LANG: 'zh_CN.UTF-8', LANGUAGE: 'zh' } });
    const real = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim();
    const garbled = join(scene.home, 'bin/git');
    const garble = `#!/bin/bash\nexec 2> >(exec tr a-zA-Z b-zaB-ZA >&2)\nexec "${real}" "$@"\n`;
    writeFiles(scene.home, { 'bin/git': garble });
    spawnSync('chmod', ['+x', garbled]);
    const env = { PATH: `${join(scene.home, 'bin')}:${process.env['PATH'] ?? '/usr/bin:/bin'}` };
    rmSync(scene.dataDir, { recursive: true });
    await scene.json(['save', scene.mount], { env });
    scene.write({ a: 'b\n' });
    await scene.save(['-m', 'two'], { env, dirs: [scene.mount] });
    await scene.restore(1, [], { env });
    expectSame(before);
    expect(await scene.numbers({ env })).toEqual([3, 2, 1]);
    await scene.restore(99, [], { env, code: 3 });
    await scene.run(['diff', '1', '2', '--exit-code'], { env, code: 1 });
    await scene.run(['verify'], { env });
  });
});

describe('a file monitor that lies', () => {
  test('hides no change from a save', async () => {
    trap(join(scene.home, 'monitor'), mark, "printf '0\\0'");
    configure({ 'core.fsmonitor': join(scene.home, 'monitor'), 'core.untrackedCache': 'true' });
    userGit(scene.mount, ['update-index', '--assume-unchanged', 'a'], { mayFail: true });
    rmSync(mark, { force: true });
    scene.write({ a: 'v1\n', same: 'v1\n' });
    await scene.save();
    scene.write({ a: 'v2-longer\n', same: 'v2\n' });
    const before = remember(scene.mount);
    await scene.save();
    expect([await scene.content(2, 'a'), await scene.content(2, 'same')]).toEqual(['v2-longer\n', 'v2\n']);
    scene.write({ a: 'v3\n' });
    await scene.restore(2);
    expectSame(before);
    const { stdout } = await scene.run(['diff', '1', '--stat']);
    expect(stdout).toContain('2 files changed');
    expect(existsSync(mark)).toBe(false);
    writeFileSync(scene.at('a'), 'v3\n');
  });
});

const hooks = [
  'pre-commit',
  'commit-msg',
  'post-commit',
  'reference-transaction',
  'post-index-change',
  'pre-auto-gc',
  'post-checkout',
  'fsmonitor-watchman',
  'post-update',
  'pre-push',
  'post-rewrite',
];
