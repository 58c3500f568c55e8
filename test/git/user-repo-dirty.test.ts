import { chmodSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { PresentFile } from '../../src/core/present-file.js';
import { isDirty } from '../../src/git/user-repo/dirty.js';
import * as user from '../support/user-git.js';
import { history, presentIn, readDirectory } from './user-repo-samples.js';

describe('dirty', () => {
  test.each([
    { what: 'a fresh clone', change: () => undefined, is: false },
    { what: 'an edit', change: (path: string) => writeFileSync(join(path, 'shared.txt'), 'edited\n'), is: true },
    {
      what: 'an edit of the same size',
      change: (path: string) => writeFileSync(join(path, 'shared.txt'), 'OURS\n'),
      is: true,
    },
    { what: 'a file touched', change: (path: string) => utimesSync(join(path, 'shared.txt'), 1, 1), is: false },
    { what: 'a file removed', change: (path: string) => rmSync(join(path, 'src/main.c')), is: true },
    { what: 'an executable bit', change: (path: string) => chmodSync(join(path, 'shared.txt'), 0o755), is: true },
    {
      what: 'a mode that git does not keep',
      change: (path: string) => chmodSync(join(path, 'shared.txt'), 0o600),
      is: false,
    },
    {
      what: 'a link in place of a file',
      change: (path: string) => {
        rmSync(join(path, 'shared.txt'));
        symlinkSync('x', join(path, 'shared.txt'));
      },
      is: true,
    },
    { what: 'staged changes', change: user.stageChanges, is: true },
    {
      what: 'a staged new file',
      change: (path: string) => {
        writeFileSync(join(path, 'new'), 'x');
        user.userGit(path, ['add', 'new']);
      },
      is: true,
    },
    {
      what: 'something staged and taken back',
      change: (path: string) => {
        writeFileSync(join(path, 'new'), 'x');
        user.userGit(path, ['add', 'new']);
        user.userGit(path, ['rm', '-q', '--cached', 'new']);
        rmSync(join(path, 'new'));
      },
      is: false,
    },
    { what: 'an intended addition', change: (path: string) => user.useIndexVersion(path, 3), is: true },
    { what: 'index version 4', change: (path: string) => user.useIndexVersion(path, 4), is: false },
    { what: 'a conflict', change: user.startMerge, is: true },
    { what: 'an unborn branch with a full index', change: user.makeUnborn, is: false },
    { what: 'a submodule', change: (path: string) => user.addSubmodule(path, history(), 'sub'), is: false },
    {
      what: 'an edit that git is told to overlook',
      change: (path: string) => {
        user.userGit(path, ['update-index', '--assume-unchanged', 'shared.txt']);
        writeFileSync(join(path, 'shared.txt'), 'x');
      },
      is: false,
    },
    {
      what: 'a link',
      change: (path: string) => {
        symlinkSync('target', join(path, 'link'));
        user.userGit(path, ['add', 'link']);
        user.userGit(path, ['commit', '-qm', 'link']);
      },
      is: false,
    },
  ])('$what: $is', async ({ change, is }) => {
    const path = history();
    change(path);
    expect(isDirty(await readDirectory(path), presentIn(path), false)).toBe(is);
    expect(isDirty(await readDirectory(path), presentIn(path), true)).toBe(true);
    // git agrees; untracked files are left to the caller. What an unborn branch finds on disk is untracked.
    expect(user.userGitText(path, ['status', '--porcelain', '--untracked-files=no']) !== '').toBe(is);
  });

  test('is not known when stat and content leave it open', async () => {
    const path = history();
    utimesSync(join(path, 'shared.txt'), 1, 1);
    const withoutContent = (name: EntryPath): PresentFile => {
      const { kind, size, mtimeNs, ctimeNs, ino, mode } = presentIn(path)(name)!;
      return { kind, size, mtimeNs, ctimeNs, ino, mode };
    };
    expect(isDirty(await readDirectory(path), withoutContent, false)).toBeNull();
  });

  test('an edit within the tick of the last git command is found', async () => {
    for (let round = 0; round < 5; round += 1) {
      const path = history();
      writeFileSync(join(path, 'shared.txt'), 'OURS\n');
      user.userGit(path, ['add', 'shared.txt']);
      user.userGit(path, ['commit', '-qm', 'OURS']);
      const { mtime, atime } = statSync(join(path, 'shared.txt'));
      writeFileSync(join(path, 'shared.txt'), 'ours\n');
      utimesSync(join(path, 'shared.txt'), atime, mtime);
      expect(isDirty(await readDirectory(path), presentIn(path), false)).toBe(true);
    }
  });
});
