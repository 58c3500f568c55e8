import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ObjectId } from '../../src/core/ids.js';
import { type WrittenEntry, encodeIndexFile } from '../../src/git/user-repo/encode-index.js';
import * as user from '../support/user-git.js';
import { history } from './user-repo-samples.js';

function written(entries: readonly WrittenEntry[]): { readonly path: string; readonly blob: ObjectId } {
  const path = history();
  const blob = user.userGitText(path, ['rev-parse', 'HEAD:README.md']) as ObjectId;
  writeFileSync(join(path, '.git/index'), encodeIndexFile(entries.map((entry) => ({ ...entry, oid: blob }))));
  return { path, blob };
}

const oid = '0'.repeat(40) as ObjectId;

test('git reads entries in any order, of each stage and with each flag', () => {
  const long = `d/${'n'.repeat(4100)}`;
  const { path, blob } = written([
    { path: 'z', mode: 0o120000, oid },
    { path: 'conflict', mode: 0o100644, oid, stage: 3 },
    { path: 'conflict', mode: 0o100644, oid, stage: 2 },
    { path: long, mode: 0o100755, oid },
    { path: 'assumed', mode: 0o100644, oid, flags: ['assume-valid'] },
    { path: 'skipped', mode: 0o100644, oid, flags: ['skip-worktree'] },
    { path: 'b\xc3\xa9', mode: 0o100644, oid, flags: ['intent-to-add'] },
  ]);
  const listed = user.userGitText(path, ['-c', 'core.quotePath=false', 'ls-files', '--stage', '-v']).split('\n');
  expect(listed).toEqual([
    `h 100644 ${blob} 0\tassumed`,
    `H 100644 ${blob} 0\tbé`,
    `M 100644 ${blob} 2\tconflict`,
    `M 100644 ${blob} 3\tconflict`,
    `H 100755 ${blob} 0\t${long}`,
    `S 100644 ${blob} 0\tskipped`,
    `H 120000 ${blob} 0\tz`,
  ]);
});

test('with its stat a file counts as unchanged without being read', () => {
  const path = history();
  const file = join(path, 'README.md');
  const entries = user
    .userGitText(path, ['ls-tree', '-r', '--format=%(objectmode) %(objectname) %(path)', 'HEAD'])
    .split('\n')
    .map((line) => line.split(' ') as [string, string, string]);
  const index = entries.map(([mode, id, name]) => ({
    path: name,
    mode: Number.parseInt(mode, 8),
    oid: id as ObjectId,
    stat: lstatSync(join(path, name), { bigint: true }),
  }));
  expect(index.length).toBeGreaterThan(1);
  writeFileSync(join(path, '.git/index'), encodeIndexFile(index));
  expect(user.userGitText(path, ['diff-files', '--name-only'])).toBe('');
  const { size, mtimeNs } = lstatSync(file, { bigint: true });
  expect(user.userGitText(path, ['ls-files', '--debug', 'README.md'])).toMatch(
    new RegExp(
      `mtime: ${String(mtimeNs / 1_000_000_000n)}:${String(mtimeNs % 1_000_000_000n)}[^]*size: ${String(size)}\\b`,
    ),
  );
});

test('an index without entries is one', () => {
  expect(user.userGitText(written([]).path, ['ls-files'])).toBe('');
});
