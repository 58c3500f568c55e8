import { describe, expect, test } from 'vitest';
import type { StoredEntry } from '../../src/core/entry.js';
import { type EntryPath, parseEntryPath, rootPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { ObjectReader } from '../../src/core/ports.js';
import type { Context } from '../../src/operations/context.js';
import { Interruption } from '../../src/operations/interruption.js';
import { type FitToLeave, fitToLeave } from '../../src/operations/state/fit-to-leave.js';

const owner = { uid: 0, gid: 0 };

function folder(path: string): StoredEntry {
  return { kind: 'directory', path: path === '' ? rootPath : parseEntryPath(path), mode: 0o700, ...owner };
}

/** A file whose content is its id. */
function file(path: string, content: string, more: { linkedTo?: string; byRanges?: boolean; size?: number } = {}) {
  const { linkedTo, ...rest } = more;
  const entry: StoredEntry = {
    ...{ kind: 'file', path: parseEntryPath(path), oid: content as ObjectId, size: content.length, mode: 0o644 },
    ...{ sparse: false, ...owner, ...rest },
    ...(linkedTo === undefined ? {} : { linkedTo: parseEntryPath(linkedTo) }),
  };
  return entry;
}

function link(path: string, target: string): StoredEntry {
  return { kind: 'symlink', path: parseEntryPath(path), oid: target as ObjectId, size: target.length, ...owner };
}

async function fit(entries: readonly StoredEntry[], scan?: (text: string) => boolean): Promise<FitToLeave> {
  const reader = {
    read: (oid: ObjectId) => Promise.resolve({ oid, content: Buffer.from(oid, 'latin1') }),
  } as unknown as ObjectReader;
  const context = {
    interruption: new Interruption(undefined),
    secretScanner: () =>
      Promise.resolve({
        holdsSecret: (_: string, text: string) =>
          Promise.resolve(scan === undefined ? text.includes('SECRET') : scan(text)),
      }),
  } as unknown as Context;
  return fitToLeave(context, reader, new Map(entries.map((entry) => [entry.path, entry])));
}

const around = [folder(''), folder('.claude'), folder('.claude/agents')];

describe('state that is to leave the store', () => {
  test('is all of it where nothing speaks against it, links and empty folders too', async () => {
    const entries = [
      ...around,
      file('.claude/agents/a.md', 'a'),
      link('.claude/agents/b', 'a.md'),
      folder('.claude/hooks'),
    ];
    const { entries: left, withheld } = await fit(entries);
    expect([...left.values()]).toEqual(entries);
    expect(withheld).toEqual([]);
  });

  test.each([
    { what: 'a secret in it', entry: file('.claude/agents/a', 'a SECRET'), reason: 'secret' },
    { what: 'a secret in the text of a link', entry: link('.claude/agents/a', 'SECRET'), reason: 'secret' },
    { what: 'the name of a login', entry: file('.claude/agents/auth.json', '{}'), reason: 'credential' },
    { what: 'a place that is not on the list', entry: file('.claude/history.jsonl', ''), reason: 'excluded' },
    { what: 'bytes that are no text', entry: file('.claude/agents/a', '\0'), reason: 'unsupported' },
    { what: 'bytes that are not UTF-8', entry: file('.claude/agents/a', '\xe9'), reason: 'unsupported' },
    { what: 'its size', entry: file('.claude/agents/a', '', { size: 1024 * 1024 + 1 }), reason: 'too_large' },
    { what: 'its form', entry: file('.claude/agents/a', '', { byRanges: true }), reason: 'unsupported' },
    { what: 'being a link where a file should be', entry: link('.claude/settings.json', 'a'), reason: 'excluded' },
  ])('is held back for $what', async ({ entry, reason }) => {
    const { entries, withheld } = await fit([...around, entry]);
    expect(withheld).toEqual([{ path: entry.path, reason }]);
    expect(entries.has(entry.path)).toBe(false);
  });

  test('is held back with its folder, which stands for all below it', async () => {
    const { entries, withheld } = await fit([
      ...around,
      folder('.claude/agents/credentials'),
      file('.claude/agents/credentials/a.md', 'a'),
      folder('.claude/agents/.git'),
      file('.claude/agents/.git/config', 'c'),
    ]);
    expect(withheld).toEqual([
      { path: '.claude/agents/credentials', reason: 'credential' },
      { path: '.claude/agents/.git', reason: 'git_dir' },
    ]);
    expect([...entries.keys()]).toEqual(around.map(({ path }) => path));
  });

  test('is held back when it is the same file as one that is', async () => {
    const first = '.claude/agents/auth.json';
    const { entries, withheld } = await fit([
      ...around,
      file(first, 'opaque', { linkedTo: first }),
      file('.claude/agents/b.md', 'opaque', { linkedTo: first }),
    ]);
    expect(withheld.map(({ path, reason }) => [path, reason])).toEqual([
      [first, 'credential'],
      ['.claude/agents/b.md', 'credential'],
    ]);
    expect(entries.size).toBe(around.length);
  });

  test('keeps its groups of hard links, but for one that begins nowhere', async () => {
    const first = '.claude/agents/a.md';
    const { entries } = await fit([
      ...around,
      file(first, 'a', { linkedTo: first }),
      file('.claude/agents/b.md', 'a', { linkedTo: first }),
      file('.claude/agents/c.md', 'c', { linkedTo: 'no/where' }),
    ]);
    const groupOf = (path: string): unknown => {
      const entry = entries.get(path as EntryPath);
      return entry !== undefined && 'linkedTo' in entry ? entry.linkedTo : undefined;
    };
    expect(groupOf(first)).toBe(first);
    expect(groupOf('.claude/agents/b.md')).toBe(first);
    expect(groupOf('.claude/agents/c.md')).toBeUndefined();
  });

  test('is held back when the scanner fails', async () => {
    const failing = (): boolean => {
      throw new TypeError('a rule broke');
    };
    const { withheld } = await fit([...around, file('.claude/agents/a.md', 'a')], failing);
    expect(withheld).toEqual([{ path: '.claude/agents/a.md', reason: 'unsupported' }]);
  });
});
