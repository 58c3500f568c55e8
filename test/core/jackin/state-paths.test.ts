import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryStat } from '../../../src/core/entry.js';
import { type EntryPath, parseEntryPath } from '../../../src/core/entry-path.js';
import {
  isCredential,
  stateAllowed,
  stateFileAtMost,
  stateGroupOf,
  stateLeftOut,
} from '../../../src/core/jackin/state-paths.js';

const of = (path: string, kind: EntryStat['kind'] = 'file', size = 1): string | null =>
  stateLeftOut(parseEntryPath(path), { kind, size });

const listed = Object.entries(stateAllowed).flatMap(([agent, paths]) => paths.map((path) => ({ agent, path })));

describe('what of an agent home is state', () => {
  test.each(listed)('$path of $agent is, and the folders that lead there', ({ agent, path }) => {
    const isFolder = path.endsWith('/');
    const entry = path.replace(/\/$/, '');
    expect(of(entry, isFolder ? 'directory' : 'file')).toBeNull();
    for (let at = entry; at.includes('/'); at = at.slice(0, at.lastIndexOf('/')))
      expect(of(at.slice(0, at.lastIndexOf('/')), 'directory')).toBeNull();
    const file = isFolder ? `${entry}/some/thing.md` : entry;
    expect(of(file)).toBeNull();
    expect(stateGroupOf(parseEntryPath(file))?.agent).toBe(agent);
  });

  test.each([
    '.bashrc',
    '.claude/history.jsonl',
    '.claude/projects/p/session.jsonl',
    '.claude/settings.json.bak',
    '.claude/agents.md',
    '.codex/sessions/2026/a.jsonl',
    '.config/other/settings.json',
    '.local/share/amp/threads/t.json',
    'settings.json',
  ])('%s is not', (path) => {
    expect(of(path)).toBe('excluded');
    expect(stateGroupOf(parseEntryPath(path))).toBeUndefined();
  });

  test.each([
    { path: '.claude/plugins', kind: 'file' },
    { path: '.claude/plugins', kind: 'symlink' },
    { path: '.claude/settings.json', kind: 'symlink' },
    { path: '.claude/settings.json', kind: 'directory' },
    { path: '.claude', kind: 'symlink' },
    { path: '.config', kind: 'file' },
  ] as const)('nor is $path as a $kind', ({ path, kind }) => {
    expect(of(path, kind)).toBe('excluded');
  });

  test('nor is what is special, or too large to be looked at', () => {
    expect(of('.claude/plugins/pipe', 'special')).toBe('special');
    expect(of('.claude/plugins/a', 'file', stateFileAtMost)).toBeNull();
    expect(of('.claude/plugins/a', 'file', stateFileAtMost + 1)).toBe('too_large');
  });
});

describe('credentials', () => {
  const names = [
    ...['account.json', 'credentials.json', '.credentials.json', 'auth.json', 'secrets.json', 'device_id', 'hosts.yml'],
    ...['.claude.json', '.claude.json.backup', 'user-settings.json', 'oauth_creds.json', 'token.json', 'tokens.json'],
    ...['.env', '.env.local', 'id_rsa', 'server.pem', 'server.key', '.netrc', '.npmrc', '.git-credentials'],
  ];

  test.each(names)('%s is one wherever it lies, as a file and as a link', (name) => {
    for (const folder of ['', '.claude/', '.claude/plugins/', '.config/opencode/plugins/deep/er/']) {
      expect(of(folder + name)).toBe('secret');
      expect(of(folder + name, 'symlink')).toBe('secret');
    }
  });

  test.each(['Auth.JSON', 'CREDENTIALS.json', 'Hosts.yml'])('%s is one, too', (name) => {
    expect(of(`.claude/plugins/${name}`)).toBe('secret');
  });

  test.each(['credentials', '.credentials', 'Secrets', '.ssh', '.aws', '.gnupg', '.kube', '.docker'])(
    'the folder %s is one',
    (name) => {
      expect(of(`.claude/plugins/${name}`, 'directory')).toBe('secret');
      expect(isCredential(parseEntryPath(name), 'directory')).toBe(true);
    },
  );

  test('that jackin and the agents have are all among them', () => {
    for (const path of [
      ...['claude/account.json', 'claude/credentials.json', 'codex/auth.json', 'amp/secrets.json'],
      ...['.kimi-code/config.toml', 'kimi-code/device_id', 'opencode/auth.json', 'grok/auth.json'],
      ...['.config/gh/hosts.yml', '.claude/.credentials.json', '.local/share/amp/secrets.json'],
    ])
      expect(isCredential(parseEntryPath(path), 'file'), path).toBe(true);
    expect(isCredential(parseEntryPath('kimi-code/credentials'), 'directory')).toBe(true);
  });

  test('are let in by nothing around them', () => {
    const folder = fc.constantFrom(...listed.filter(({ path }) => path.endsWith('/')).map(({ path }) => path));
    const between = fc.array(fc.constantFrom('a', 'b.d', 'known'), { maxLength: 3 });
    fc.assert(
      fc.property(folder, between, fc.constantFrom(...names), (top, parts, name) => {
        expect(of([top.slice(0, -1), ...parts, name].join('/'))).toBe('secret');
      }),
    );
  });
});

describe('any path', () => {
  test('that is stored as a file is on the list, so that it has an agent and a kind', () => {
    const part = fc.constantFrom('.claude', '.codex', '.config', 'amp', 'plugins', 'settings.json', 'x', 'CLAUDE.md');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const path = parts.join('/') as EntryPath;
        expect(of(path) === null).toBe(stateGroupOf(path) !== undefined);
      }),
    );
  });

  test.each([
    { path: '.claude/settings.json', kind: 'settings' },
    { path: '.claude/CLAUDE.md', kind: 'instructions' },
    { path: '.codex/AGENTS.md', kind: 'instructions' },
    { path: '.codex/config.toml', kind: 'settings' },
    { path: '.claude/output-styles/a.md', kind: 'output-styles' },
    { path: '.config/opencode/plugin/a.js', kind: 'plugin' },
  ])('$path is of the kind $kind', ({ path, kind }) => {
    expect(stateGroupOf(parseEntryPath(path))?.kind).toBe(kind);
  });
});
