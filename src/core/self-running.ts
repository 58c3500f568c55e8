import type { EntryPath } from './entry-path.js';

/*
 * Files that make something run by itself: when a commit is made, a folder is opened, a shell starts. Who reads what an
 * agent did looks at these first. By name alone, at any depth, since a project may lie in a folder of another.
 */

export const selfRunningKinds = [
  'git_hook',
  'git_config',
  'ci',
  'editor',
  'container',
  'package_script',
  'build',
  'shell',
  'agent',
] as const;

/** What makes it run: git, continuous integration, an editor, a development container, a package manager … */
export type SelfRunningKind = (typeof selfRunningKinds)[number];

/** The kind of a path relative to its mount's root; null for all others. */
export function selfRunningKind(path: EntryPath): SelfRunningKind | null {
  const found = shapes.find(([, shape]) => shape.test(path));
  return found?.[0] ?? null;
}

/** A folder or file of this name, wherever it lies. */
function named(...names: readonly string[]): RegExp {
  return new RegExp(`(?:^|/)(?:${names.join('|')})$`);
}

const anyBelow = '/[^]+';

const shapes: readonly (readonly [SelfRunningKind, RegExp])[] = [
  ['git_hook', named(`\\.git/hooks${anyBelow}`, `\\.husky${anyBelow}`, `\\.?githooks${anyBelow}`)],
  [
    'git_hook',
    named('\\.pre-commit-config\\.ya?ml', '\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|json)', '\\.overcommit\\.yml'),
  ],
  ['git_config', named('\\.gitattributes', '\\.gitmodules', '\\.git/(?:config|config\\.worktree|info/attributes)')],
  ['ci', named(`\\.github/(?:workflows|actions)${anyBelow}`, '\\.github/dependabot\\.ya?ml')],
  ['ci', named('\\.gitlab-ci\\.ya?ml', `\\.gitlab/ci${anyBelow}`, `\\.circleci${anyBelow}`, `\\.buildkite${anyBelow}`)],
  ['ci', named('\\.travis\\.ya?ml', 'azure-pipelines\\.ya?ml', 'bitbucket-pipelines\\.ya?ml', 'Jenkinsfile')],
  [
    'ci',
    named('\\.drone\\.ya?ml', '\\.cirrus\\.ya?ml', 'appveyor\\.ya?ml', `\\.(?:forgejo|gitea)/workflows${anyBelow}`),
  ],
  ['ci', named('\\.woodpecker\\.ya?ml', `\\.woodpecker${anyBelow}`, `\\.tekton${anyBelow}`, '\\.ci/run')],
  ['editor', named(`\\.vscode${anyBelow}`, `\\.cursor${anyBelow}`, '[^/]+\\.code-workspace', `\\.zed${anyBelow}`)],
  [
    'editor',
    named(`\\.idea/(?:runConfigurations|workspace\\.xml|externalTools\\.xml|watcherTasks\\.xml)(?:${anyBelow})?`),
  ],
  [
    'editor',
    named(
      `\\.run${anyBelow}\\.run\\.xml`,
      '\\.exrc',
      '\\.nvimrc',
      '\\.nvim\\.lua',
      '\\.vimrc',
      '\\.dir-locals(?:-2)?\\.el',
    ),
  ],
  ['container', named(`\\.devcontainer${anyBelow}`, '\\.devcontainer\\.json', '\\.gitpod\\.ya?ml')],
  [
    'package_script',
    named('package\\.json', '\\.npmrc', '\\.yarnrc(?:\\.yml)?', '\\.pnpmfile\\.c?js', 'setup\\.py', 'conftest\\.py'),
  ],
  [
    'package_script',
    named('build\\.rs', '\\.cargo/config(?:\\.toml)?', 'composer\\.json', 'sitecustomize\\.py', '[^/]+\\.pth'),
  ],
  ['build', named('(?:GNU)?[Mm]akefile', '[Jj]ustfile', '\\.justfile', 'Taskfile\\.ya?ml', 'Rakefile', 'Dockerfile')],
  ['build', named('CMakeLists\\.txt', '(?:docker-)?compose(?:\\.[^/]+)?\\.ya?ml', 'Vagrantfile', 'Procfile')],
  [
    'shell',
    named(
      '\\.envrc',
      '\\.bash(?:rc|_profile|_login|_logout|_aliases)',
      '\\.z(?:shrc|shenv|profile|login|logout)',
      '\\.profile',
    ),
  ],
  [
    'shell',
    named(
      '\\.config/fish/(?:config\\.fish|conf\\.d/[^]+)',
      '\\.cshrc',
      '\\.tcshrc',
      '\\.kshrc',
      '\\.?mise\\.toml',
      '\\.tool-versions',
    ),
  ],
  [
    'agent',
    named(
      '\\.claude/settings(?:\\.[^/]+)?\\.json',
      `\\.claude/(?:hooks|commands|agents|skills)${anyBelow}`,
      '\\.mcp\\.json',
    ),
  ],
  [
    'agent',
    named(
      `\\.codex/(?:config\\.toml|hooks\\.json|hooks${anyBelow})`,
      '\\.gemini/settings\\.json',
      `\\.opencode${anyBelow}`,
    ),
  ],
  [
    'agent',
    named(
      'opencode\\.jsonc?',
      '\\.amp/settings\\.json',
      '\\.aider\\.conf\\.yml',
      `\\.kiro/hooks${anyBelow}`,
      '\\.windsurf/[^]+',
    ),
  ],
];

/**
 * Of these, files that are looked at before and after a command whether snapshots have them or not, since projects
 * often leave them out of their repositories. Relative to a mount's root.
 */
export const watchedPaths: readonly EntryPath[] = [
  '.envrc',
  '.mcp.json',
  '.npmrc',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.cursor/mcp.json',
  '.cursor/hooks.json',
  '.gemini/settings.json',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  '.idea/workspace.xml',
  '.vscode/extensions.json',
  '.vscode/launch.json',
  '.vscode/mcp.json',
  '.vscode/settings.json',
  '.vscode/tasks.json',
] as EntryPath[];
