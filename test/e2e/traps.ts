import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { userGit, writeFiles } from '../support/user-git.js';

/**
 * Names a program that leaves a mark wherever git, node or a shell could be led to one: in the configuration,
 * attributes and hooks of every repository of the mount, in the user's own configuration, and beside the work. Answers
 * an environment that leads there too.
 */
export function plantTraps(mount: string, home: string, marker: string): Record<string, string> {
  const trap = join(home, 'trap');
  writeFiles(home, { trap: `#!/bin/sh\ntouch '${marker}'\nexit 1\n` });
  chmodSync(trap, 0o755);
  const hooks = Object.fromEntries(hookNames.map((name) => [name, `#!/bin/sh\ntouch '${marker}'\n`]));
  writeFiles(join(home, 'hooks'), hooks);
  writeFiles(home, { 'included.cfg': `[core]\n\tpager = ${trap}\n[diff]\n\texternal = ${trap}\n` });
  makeExecutable(join(home, 'hooks'));

  for (const name of readdirSync(mount)) {
    const git = join(mount, name, '.git');
    if (!isRepository(git)) continue;
    for (const [key, value] of settings(trap, home)) userGit(mount, ['config', '-f', join(git, 'config'), key, value]);
    writeFiles(join(git, 'hooks'), hooks);
    makeExecutable(join(git, 'hooks'));
    writeFiles(git, { 'info/attributes': '* filter=evil diff=evil merge=evil\n', 'info/grafts': 'x\n' });
    writeFiles(git, { 'objects/info/alternates': `${join(home, 'nowhere')}\n` });
  }
  for (const [key, value] of settings(trap, home))
    userGit(home, ['config', '-f', join(home, '.gitconfig'), key, value]);
  writeFiles(mount, {
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    '.mailmap': 'jackin-snap <x@x> <jackin-snap@localhost>\n',
    '.npmrc': `script-shell=${trap}\n`,
    'looks-bare/HEAD': 'ref: refs/heads/main\n',
    'looks-bare/config': `[core]\n\tbare = true\n\tfsmonitor = ${trap}\n\tpager = ${trap}\n`,
    'looks-bare/refs/x': '',
    'looks-bare/objects/x': '',
  });
  for (const folder of ['', 'node_modules/.bin', 'bin']) plantPrograms(join(mount, folder), marker);
  return {
    PATH: `.:${mount}/node_modules/.bin:${mount}/bin::${process.env['PATH'] ?? '/usr/bin:/bin'}`,
    ...Object.fromEntries(programVariables.map((name) => [name, trap])),
    GIT_DIR: join(mount, 'app/.git'),
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: trap,
    GIT_EXEC_PATH: join(mount, 'bin'),
  };
}

const hookNames = ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction', 'fsmonitor-watchman'];
const programVariables = ['PAGER', 'GIT_PAGER', 'EDITOR', 'GIT_EDITOR', 'GIT_EXTERNAL_DIFF', 'GIT_SSH', 'GIT_ASKPASS'];

function settings(trap: string, home: string): [string, string][] {
  const programs = [
    ...['core.fsmonitor', 'core.pager', 'core.editor', 'core.sshCommand', 'core.askPass', 'gpg.program'],
    ...['core.alternateRefsCommand', 'diff.external', 'diff.evil.textconv', 'diff.evil.command', 'merge.evil.driver'],
    ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'uploadpack.packObjectsHook'],
    ...['gc.recentObjectsHook', 'pager.log', 'pager.diff', 'interactive.diffFilter', 'sequence.editor'],
  ];
  return [
    ...programs.map((key): [string, string] => [key, trap]),
    ...['log', 'diff', 'fsck', 'gc', 'repack'].map((name): [string, string] => [`alias.${name}`, `!${trap}`]),
    ['core.hooksPath', join(home, 'hooks')],
    ['include.path', join(home, 'included.cfg')],
    ['commit.gpgSign', 'true'],
    ['init.templateDir', home],
  ];
}

function plantPrograms(folder: string, marker: string): void {
  const text = `#!/bin/sh\ntouch '${marker}'\nexit 1\n`;
  for (const name of ['git', 'flock', 'node', 'sh', 'less', 'gzip', 'tar', 'true', 'git-log']) {
    mkdirSync(folder, { recursive: true });
    writeFiles(folder, { [name]: text });
    chmodSync(join(folder, name), 0o755);
  }
}

function isRepository(path: string): boolean {
  try {
    return readdirSync(path).includes('HEAD');
  } catch {
    return false;
  }
}

function makeExecutable(folder: string): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o755);
}
