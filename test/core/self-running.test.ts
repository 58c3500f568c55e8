import { describe, expect, test } from 'vitest';
import type { EntryPath } from '../../src/core/entry-path.js';
import { selfRunningKind, watchedPaths } from '../../src/core/self-running.js';

describe('what runs by itself', () => {
  test.each([
    ['.git/hooks/pre-commit', 'git_hook'],
    ['.husky/pre-push', 'git_hook'],
    ['.githooks/commit-msg', 'git_hook'],
    ['.pre-commit-config.yaml', 'git_hook'],
    ['lefthook.yml', 'git_hook'],
    ['.git/config', 'git_config'],
    ['sub/.gitattributes', 'git_config'],
    ['.github/workflows/test.yml', 'ci'],
    ['.github/actions/build/action.yml', 'ci'],
    ['.gitlab-ci.yml', 'ci'],
    ['.circleci/config.yml', 'ci'],
    ['Jenkinsfile', 'ci'],
    ['.vscode/tasks.json', 'editor'],
    ['.vscode/launch.json', 'editor'],
    ['packages/a/.vscode/settings.json', 'editor'],
    ['.idea/runConfigurations/Test.xml', 'editor'],
    ['.idea/workspace.xml', 'editor'],
    ['.devcontainer/devcontainer.json', 'container'],
    ['.devcontainer.json', 'container'],
    ['package.json', 'package_script'],
    ['packages/a/package.json', 'package_script'],
    ['Makefile', 'build'],
    ['GNUmakefile', 'build'],
    ['src/makefile', 'build'],
    ['.envrc', 'shell'],
    ['.bashrc', 'shell'],
    ['home/.zshrc', 'shell'],
    ['.profile', 'shell'],
    ['.claude/settings.json', 'agent'],
    ['.claude/settings.local.json', 'agent'],
    ['.claude/hooks/before.sh', 'agent'],
    ['.mcp.json', 'agent'],
    ['.codex/config.toml', 'agent'],
  ])('%s is of kind %s', (path, kind) => {
    expect(selfRunningKind(path as EntryPath)).toBe(kind);
  });

  test.each([
    'README.md',
    'src/main.ts',
    '.github/CODEOWNERS',
    'github/workflows/x.yml',
    'my.gitlab-ci.yml',
    'Makefile.md',
    'package.json.bak',
    '.envrc.example',
    'notpackage.json',
    '.idea/misc.xml',
    '.claude/notes.md',
    'hooks/useThing.ts',
  ])('%s is none', (path) => {
    expect(selfRunningKind(path as EntryPath)).toBeNull();
  });

  test('what is watched beside the snapshots is of some kind', () => {
    expect(watchedPaths.filter((path) => selfRunningKind(path) === null)).toEqual([]);
  });
});
