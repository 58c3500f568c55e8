import { describe, expect, test } from 'vitest';
import type { EntryStat } from '../../src/core/entry.js';
import { baseName, parseEntryPath } from '../../src/core/entry-path.js';
import { StateRules } from '../../src/operations/capture/state/state-rules.js';

const rules = new StateRules(1n);

function reasonFor(path: string, kind: EntryStat['kind'], changes: Partial<EntryStat> = {}): string | null {
  const stat: EntryStat = {
    ...{ kind, dev: 1n, ino: 2n, mode: 0o600, uid: 0, gid: 0, nlink: 1, size: 1, mtimeNs: 0n, ctimeNs: 0n },
    sparse: false,
    ...changes,
  };
  const entry = parseEntryPath(path);
  return rules.leaveOut(entry, baseName(entry), stat);
}

describe('the rules of a walk over an agent home', () => {
  test.each([
    { path: '.claude', kind: 'directory', reason: null },
    { path: '.claude/plugins', kind: 'directory', reason: null },
    { path: '.claude/plugins/known/plugin.json', kind: 'file', reason: null },
    { path: '.claude/plugins/known/.git', kind: 'directory', reason: 'git_dir' },
    { path: '.git', kind: 'directory', reason: 'git_dir' },
    { path: '.claude/plugins/known/.git', kind: 'file', reason: null },
    { path: '.claude/plugins/credentials', kind: 'directory', reason: 'secret' },
    { path: '.claude/.credentials.json', kind: 'file', reason: 'secret' },
    { path: '.claude/projects', kind: 'directory', reason: 'excluded' },
    { path: '.claude/plugins/pipe', kind: 'special', reason: 'special' },
    { path: '.local', kind: 'directory', reason: 'excluded' },
  ] as const)('$path, a $kind: $reason', ({ path, kind, reason }) => {
    expect(reasonFor(path, kind)).toBe(reason);
  });

  test('leave out what lies on another file system, at its folder', () => {
    expect(reasonFor('.claude/plugins', 'directory', { dev: 9n })).toBe('foreign_fs');
  });

  test('are the same in every folder, and heed no ignore file', async () => {
    expect(await rules.enter()).toBe(rules);
    expect(reasonFor('.claude/skills/.gitignore', 'file')).toBeNull();
  });
});
