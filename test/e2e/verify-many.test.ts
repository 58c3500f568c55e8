import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { writeFiles } from '../support/user-git.js';
import { snapOver, watchGit } from './damaged-store.js';

// Snapshots are read back together: directories that they share once, and through one process.

async function savedOften(count: number): Promise<string> {
  const [mount, dataDir] = [tempDir('m'), join(tempDir('d'), 'data')];
  const snap = snapOver(dataDir, { cwd: mount });
  for (let number = 0; number < count; number += 1) {
    writeFiles(mount, { 'same/a': 'a', 'own/f': `${number}` });
    await snap.save({});
  }
  return dataDir;
}

test.each([{}, { full: true }])('as many processes for few snapshots as for many, %o', async (request) => {
  const starts = [];
  for (const count of [3, 12]) {
    const dataDir = await savedOften(count);
    const calls = watchGit(dataDir);
    const checked = await snapOver(dataDir, { env: calls.env }).verify(request);
    expect(checked).toMatchObject({ ok: true, snapshotsChecked: count });
    starts.push(readFileSync(calls.log, 'utf8').split('\n').length);
  }
  expect(starts[0]).toBeGreaterThan(1);
  expect(starts[1]).toBe(starts[0]);
});

test.each(['own', 'same'])(
  'a name that no save writes is found in %s, whatever else was read before',
  async (folder) => {
    const dataDir = await savedOften(4);
    const git = (args: readonly string[], stdin = ''): string => storeGit(dataDir, args, { stdin }).stdout.trim();
    const blob = git(['hash-object', '-w', '--stdin'], 'x');
    const odd = git(['mktree'], `100644 blob ${blob}\ta%2eb\n`);
    const [commit, top] = ['refs/jackin/t/3', 'refs/jackin/t/3^{tree}'];
    const edited = (tree: string, name: string, id: string): string =>
      git(['mktree'], git(['ls-tree', tree]).replace(new RegExp(`[0-9a-f]{40}(?=\\t${name}$)`, 'm'), id) + '\n');
    const mount = git(['ls-tree', '--name-only', `${top}:mounts`]);
    const changed = edited(`${top}:mounts/${mount}`, folder, odd);
    const tree = edited(top, 'mounts', edited(`${top}:mounts`, mount, changed));
    const text = git(['cat-file', 'commit', commit]).replace(/^tree .*/, `tree ${tree}`) + '\n';
    git(['update-ref', commit, git(['hash-object', '-w', '-t', 'commit', '--stdin'], text)]);
    const { damaged } = await snapOver(dataDir).verify({});
    expect(damaged.map(({ snapshot }) => snapshot.seq)).toEqual([3]);
  },
);
