import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userGit, writeFiles } from '../../support/user-git.js';
import { type Settings, ask, attributes, commit, settings } from './trap-settings.js';

/** Where a trap is set, and what it would start. */
export interface Ground {
  /** A repository with a commit, an edited file and an untracked one. */
  readonly mount: string;
  readonly home: string;
  /** A program in the mount that leaves a mark. */
  readonly program: string;
}

/** One way in which a mount, a user's configuration or an environment names a program. */
export interface Trap {
  readonly name: string;
  /** Answers what has to be in the environment. */
  readonly set: (ground: Ground) => Readonly<Record<string, string>>;
  /** A shell's command in the mount that springs it, where stock git or a shell would. */
  readonly control?: string;
}

function asSettings(ground: Ground, keys: Settings, file: string): void {
  const { mount, home, program } = ground;
  const filled = (text: string): string =>
    text.replaceAll('TRAP', program).replaceAll('MOUNT', mount).replaceAll('HOME', home);
  for (const [key, value] of Object.entries(keys))
    userGit(home, ['config', '-f', file, '--replace-all', filled(key), filled(value)]);
}

/** Hooks, templates and files to include that lie in the mount. */
export function prepareGround({ mount, program }: Ground): void {
  const evil = join(mount, 'evil');
  writeFiles(evil, { included: `[core]\n\tfsmonitor = ${program}\n\tpager = ${program}\n` });
  for (const folder of ['hooks', 'template/hooks']) plant(join(evil, folder), hooks, program);
  writeFiles(mount, { '.gitattributes': attributes });
}

const hooks = [
  ...['pre-commit', 'commit-msg', 'post-commit', 'prepare-commit-msg', 'post-checkout', 'post-index-change'],
  ...['reference-transaction', 'fsmonitor-watchman', 'pre-auto-gc', 'post-update', 'pre-push', 'post-merge'],
];

function plant(folder: string, names: readonly string[], program: string): void {
  for (const name of names) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${program}' "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

const programs = ['git', 'flock', 'sh', 'tar', 'sync', 'node', 'less', 'gzip', 'cat', 'env', 'stat', 'git-log', 'ssh'];
const usualPath = process.env['PATH'] ?? '/usr/bin:/bin';

function inPath(name: string, folder: string, path: (mount: string) => string): Trap {
  return {
    name: `programs in ${name}`,
    set: ({ mount, program }) => {
      plant(join(mount, folder), programs, program);
      return { PATH: path(mount) };
    },
    control: 'git version',
  };
}

function inEnvironment(name: string, value: (ground: Ground) => string, control?: string): Trap {
  const trap = { name: `${name} in the environment`, set: (ground: Ground) => ({ [name]: value(ground) }) };
  return control === undefined ? trap : { ...trap, control };
}

const repositories: readonly Trap[] = [
  {
    // git obeys it for the user alone.
    name: 'template in the settings of the user',
    set: (ground) => {
      asSettings(ground, { 'init.templateDir': 'MOUNT/evil/template' }, join(ground.home, '.gitconfig'));
      return {};
    },
    control: `git init --quiet fresh && cd fresh && ${commit}`,
  },
  {
    name: 'hooks of the repository',
    set: ({ mount, program }) => (plant(join(mount, '.git/hooks'), hooks, program), {}),
    control: commit,
  },
  {
    name: 'attributes of the repository',
    set: (ground) => {
      writeFiles(ground.mount, { '.git/info/attributes': attributes, '.gitattributes': '' });
      asSettings(ground, { 'filter.evil.clean': 'TRAP' }, join(ground.mount, '.git/config'));
      return {};
    },
    control: 'git add -A',
  },
  {
    name: 'a .git file that leads to a trap',
    set: (ground) => {
      userGit(ground.mount, ['init', '--quiet', 'evil/real']);
      asSettings(ground, { 'core.fsmonitor': 'TRAP' }, join(ground.mount, 'evil/real/.git/config'));
      writeFiles(ground.mount, { 'nested/.git': 'gitdir: ../evil/real/.git\n', 'nested/x': 'x\n' });
      return {};
    },
    control: 'git -C nested status',
  },
  {
    name: 'a common directory that is a trap',
    set: (ground) => {
      userGit(ground.mount, ['init', '--quiet', 'evil/common']);
      asSettings(ground, { 'core.fsmonitor': 'TRAP' }, join(ground.mount, 'evil/common/.git/config'));
      writeFiles(ground.mount, {
        'linked/.git': 'gitdir: ../evil/linked\n',
        'evil/linked/commondir': '../common/.git\n',
        'evil/linked/HEAD': 'ref: refs/heads/main\n',
        'evil/linked/gitdir': join(ground.mount, 'linked/.git\n'),
      });
      return {};
    },
    control: 'git -C linked status',
  },
  {
    name: 'a folder that looks like a bare repository',
    set: (ground) => {
      userGit(ground.mount, ['init', '--quiet', '--bare', 'evil/bare']);
      asSettings(ground, { 'alias.st': '!TRAP', 'core.pager': 'TRAP' }, join(ground.mount, 'evil/bare/config'));
      return {};
    },
    control: 'git -C evil/bare st',
  },
  {
    name: 'a repository whose .git is a link',
    set: (ground) => {
      userGit(ground.mount, ['init', '--quiet', 'evil/target']);
      asSettings(ground, { 'core.fsmonitor': 'TRAP' }, join(ground.mount, 'evil/target/.git/config'));
      mkdirSync(join(ground.mount, 'by-link'));
      symlinkSync('../evil/target/.git', join(ground.mount, 'by-link/.git'));
      return {};
    },
    control: 'git -C by-link status',
  },
  {
    name: 'settings of a work tree',
    set: (ground) => {
      asSettings(ground, { 'extensions.worktreeConfig': 'true' }, join(ground.mount, '.git/config'));
      asSettings(ground, { 'core.fsmonitor': 'TRAP' }, join(ground.mount, '.git/config.worktree'));
      return {};
    },
    control: 'git status',
  },
];

const packages: readonly Trap[] = [
  {
    name: 'packages of the mount',
    set: ({ mount, program }) => {
      const text = `require('node:child_process').spawnSync(${JSON.stringify(program)});\n`;
      const names = ['commander', 'zod', 'ignore', 'simple-git', 'ulid', 'picocolors', 'pretty-bytes', 'cli-progress'];
      for (const name of names) writeFiles(mount, { [`node_modules/${name}/index.js`]: text });
      return {};
    },
    control: `"${process.execPath}" -e "require('./node_modules/zod')"`,
  },
  {
    name: 'settings of npm and node',
    set: ({ mount, program }) => {
      const load = join(mount, 'evil/load.cjs');
      writeFiles(mount, {
        'evil/load.cjs': `require('node:child_process').spawnSync(${JSON.stringify(program)});\n`,
        '.npmrc': `script-shell=${program}\nnode-options=--require ${load}\n`,
        '.env': `NODE_OPTIONS=--require ${load}\n`,
        '.node-options': `--require ${load}\n`,
        'node.config.json': JSON.stringify({ nodeOptions: { require: [load] } }),
        'package.json': JSON.stringify({ scripts: { preinstall: program, prepare: program, save: program } }),
      });
      return {};
    },
  },
];

/** In the environment, as a tool or an agent's session may have left it: none of it is the user's word for a program of ours. */
const variables: readonly Trap[] = [
  inEnvironment('GIT_EXTERNAL_DIFF', ({ program }) => program, 'git diff'),
  inEnvironment('GIT_SSH_COMMAND', ({ program }) => program, 'git ls-remote ssh://x.invalid/y'),
  inEnvironment('GIT_SSH', ({ program }) => program, 'git ls-remote ssh://x.invalid/y'),
  inEnvironment('GIT_PROXY_COMMAND', ({ program }) => program, 'git ls-remote git://x.invalid/y'),
  inEnvironment('GIT_ASKPASS', ({ program }) => program, ask),
  inEnvironment('GIT_EDITOR', ({ program }) => program, 'git commit --allow-empty'),
  inEnvironment('GIT_PAGER', ({ program }) => program),
  inEnvironment(
    'GIT_EXEC_PATH',
    ({ mount, program }) => {
      plant(join(mount, 'evil/exec'), ['git-remote-https', 'git-log', 'git-x'], program);
      return join(mount, 'evil/exec');
    },
    'git x',
  ),
  inEnvironment('GIT_CONFIG_PARAMETERS', ({ program }) => `'core.fsmonitor'='${program}'`, 'git status'),
  inEnvironment('GIT_CONFIG_GLOBAL', ({ mount }) => join(mount, 'evil/included'), 'git status'),
  inEnvironment('GIT_CONFIG_SYSTEM', ({ mount }) => join(mount, 'evil/included'), 'git status'),
  inEnvironment(
    'GIT_TEMPLATE_DIR',
    ({ mount }) => join(mount, 'evil/template'),
    `git init --quiet f && cd f && ${commit}`,
  ),
  inEnvironment(
    'TAR_OPTIONS',
    ({ program }) => `--checkpoint=1 --checkpoint-action=exec=${program}`,
    'tar cf /dev/null .',
  ),
  {
    name: 'a setting by number in the environment',
    set: ({ program }) => ({ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: program }),
    control: 'git status',
  },
  {
    name: 'GIT_DIR in the environment',
    set: (ground) => {
      asSettings(ground, { 'core.fsmonitor': 'TRAP' }, join(ground.mount, '.git/config'));
      return { GIT_DIR: join(ground.mount, '.git'), GIT_WORK_TREE: ground.mount };
    },
    control: 'git status',
  },
];

export const traps: readonly Trap[] = [
  ...Object.entries(settings).flatMap(([name, { keys, control }]): Trap[] =>
    [
      { place: 'the repository', file: ({ mount }: Ground) => join(mount, '.git/config') },
      { place: 'the user', file: ({ home }: Ground) => join(home, '.gitconfig') },
    ].map(({ place, file }) => {
      const trap = {
        name: `${name} in the settings of ${place}`,
        set: (ground: Ground) => (
          mkdirSync(dirname(file(ground)), { recursive: true }),
          asSettings(ground, keys, file(ground)),
          {}
        ),
      };
      return control === undefined ? trap : { ...trap, control };
    }),
  ),
  ...repositories,
  inPath('the folder itself', '', () => `.:${usualPath}`),
  inPath('an empty part of PATH', '', () => `:${usualPath}`),
  inPath('bin of the mount', 'bin', (mount) => `${join(mount, 'bin')}:${usualPath}`),
  inPath('node_modules/.bin', 'node_modules/.bin', (mount) => `${join(mount, 'node_modules/.bin')}:${usualPath}`),
  inPath('a folder that a relative PATH leads to', 'tools', () => `tools:${usualPath}`),
  ...packages,
  ...variables,
];
