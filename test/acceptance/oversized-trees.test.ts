import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { ProcessRun } from '../support/run-process.js';
import { userGit } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Area, told } from '../faults/equipment/area.js';
import { CraftedStore, type Raw } from '../faults/equipment/crafted-store.js';
import { documentOf } from '../faults/equipment/judge.js';
import { saved } from '../faults/equipment/swaps.js';

/** A store in which snapshot 2 is a few trees that name each other for ten to the power of `levels` files. */
async function withOversizedTree(
  levels: number,
  change: (message: string) => string = (message) => message,
  where: 'mount' | 'beside the files' = 'mount',
): Promise<Area> {
  const area = new Area();
  onTestFinished(() => {
    area.remove();
  });
  await area.fill(saved);
  await area.must(['save']);
  const store = new CraftedStore(area);
  let oid = store.sound(':mounts/m/top');
  for (let level = 0; level < levels; level += 1) {
    const mode = level === 0 ? '100644' : '40000';
    oid = store.tree(Array.from({ length: 10 }, (_, at) => ({ mode, name: `d${at}`, oid })));
  }
  if (where === 'mount') store.snapshot({ mount: oid, message: change });
  else {
    const folder = (name: string, tree: string): Raw => ({ mode: '40000', name, oid: tree });
    const meta = store.tree([
      {
        mode: '100644',
        name: 'manifest.json',
        oid: store.write(
          'blob',
          store.manifest(() => undefined),
        ),
      },
      folder('mounts', store.sound(':meta/mounts')),
      folder('more', oid),
    ]);
    store.snapshot({ root: store.tree([folder('meta', meta), folder('mounts', store.sound(':mounts'))]) });
  }
  return area;
}

/** With little memory and time: what lists the tree ends by neither. */
function limited(area: Area, command: string): Promise<ProcessRun> {
  const before = ['/bin/sh', '-c', 'ulimit -d 1000000; exec "$@"', 'sh'];
  const args = command.split(' ').map((word) => word.replace('AREA', area.root));
  return area.run(args, { before, timeout: 30_000 });
}

const reading = [
  ...['restore 2 --yes', 'restore 2 --dry-run', 'restore 2 --to AREA/to --yes', 'export 2 AREA/out.tar', 'tree 2'],
  ...['cat 2 top', 'diff 1 2', 'diff 2', 'diff 1 2 --stat -- top', 'log', 'log -p', 'drill 2'],
];

/** A store whose only snapshot protects a branch with a tree in which each of so many names the next so often. */
async function withOversizedCommit(fans: readonly number[]): Promise<Area> {
  const area = new Area();
  onTestFinished(() => {
    area.remove();
  });
  await area.fill(saved);
  const git = (args: string[], stdin = ''): string => userGit(area.mount, args, { stdin }).stdout.trim();
  git(['init', '--quiet']);
  let oid = git(['hash-object', '-w', '--stdin'], 'x');
  for (const [level, fan] of fans.entries()) {
    const what = level === 0 ? '100644 blob' : '040000 tree';
    oid = git(['mktree'], Array.from({ length: fan }, (_, at) => `${what} ${oid}\td${at}\n`).join(''));
  }
  git(['update-ref', 'refs/heads/side', git(['commit-tree', oid, '-m', 'oversized'])]);
  await area.must(['save', '--protect-commits']);
  // As in a store that came from elsewhere, or that lost a pack: nothing is known of the snapshot.
  rmSync(`${area.dataDir}/cache`, { recursive: true });
  return area;
}

describe.each([
  { what: 'as many alike files as somebody may have', fans: [1000, 300] },
  { what: 'ten thousand million files', fans: Array.from({ length: 10 }, () => 10) },
])('a snapshot of a repository in which a commit stands for $what', ({ fans }) => {
  test('is one like others, and its files come back', { timeout: 120_000 }, async () => {
    const area = await withOversizedCommit(fans);
    const list = documentOf(await limited(area, 'list'))?.data as { snapshots: { restorable: boolean }[] };
    expect(list.snapshots.map(({ restorable }) => restorable)).toEqual([true]);
    const before = walkTree(area.mount);
    writeFileSync(`${area.mount}/top`, 'spoilt');
    for (const command of ['verify', 'log -p', 'log --stat', 'restore 1 --yes', 'save --protect-commits', 'gc'])
      expect([command, (await limited(area, command)).code]).toEqual([command, 0]);
    expect(walkTree(area.mount).map(({ path }) => path)).toEqual(before.map(({ path }) => path));
    expect(readFileSync(`${area.mount}/top`, 'utf8')).not.toBe('spoilt');
    userGit(area.mount, ['update-ref', '-d', 'refs/heads/side']);
    const git = await limited(area, 'restore 1 --git-state --yes');
    expect(git.code, told(git)).toBe(0);
    expect(userGit(area.mount, ['rev-parse', 'side^{tree}']).code).toBe(0);
  });
});

describe('a snapshot whose trees name each other for ten thousand million files', () => {
  test('is refused by whatever would list it, before anything is changed', { timeout: 120_000 }, async () => {
    const area = await withOversizedTree(10);
    const before = walkTree(area.mount);
    for (const command of reading) {
      const run = await limited(area, command);
      expect([command, run.code, documentOf(run)?.error?.code], told(run)).toEqual([command, 7, 'STORE_DAMAGED']);
    }
    expect(walkTree(area.mount)).toEqual(before);
    expect([existsSync(`${area.root}/to`), existsSync(`${area.root}/out.tar`)]).toEqual([false, false]);
  });

  test('is named, and everything else works', { timeout: 120_000 }, async () => {
    const area = await withOversizedTree(10);
    const list = documentOf(await limited(area, 'list'))?.data as { snapshots: { seq: number; restorable: boolean }[] };
    expect(list.snapshots.map(({ seq, restorable }) => [seq, restorable])).toEqual([
      [2, false],
      [1, true],
    ]);
    const doctor = await limited(area, 'doctor');
    expect([doctor.code, doctor.stdout.includes('stands for more files than it can hold')]).toEqual([7, true]);
    const verify = await limited(area, 'verify');
    expect([verify.code, verify.stdout.includes('stands for more files than it can hold')]).toEqual([7, true]);
    expect((await limited(area, 'restore 1 --to AREA/again --yes')).code).toBe(0);
    expect((await limited(area, 'gc')).code).toBe(0);
    // Garbage collection found it complete, and that is not enough.
    expect((await limited(area, 'restore 2 --yes')).code).toBe(7);
    expect((await limited(area, 'save')).code).toBe(0);
    expect((await limited(area, 'delete 2 --yes')).code).toBe(0);
    expect((await limited(area, 'log -p')).code).toBe(0);
  });

  test('is refused also where it tells how many files it has', { timeout: 120_000 }, async () => {
    const area = await withOversizedTree(7, (message) =>
      message.replace(/Jackin-Stored: .*/, 'Jackin-Stored: 10000000 30'),
    );
    expect((await limited(area, 'restore 2 --yes')).code).toBe(7);
    expect((await limited(area, 'diff 1 2')).code).toBe(7);
  });

  test('is refused also where they lie beside the files', { timeout: 120_000 }, async () => {
    const area = await withOversizedTree(10, undefined, 'beside the files');
    for (const command of ['log -p', 'restore 2 --yes', 'export 2 AREA/out.tar'])
      expect([command, (await limited(area, command)).code]).toEqual([command, 7]);
  });

  test('counts as any other where its listing is short', { timeout: 120_000 }, async () => {
    const area = await withOversizedTree(3);
    expect((await limited(area, 'restore 2 --to AREA/to --yes')).code).toBe(0);
    expect(walkTree(`${area.root}/to`).filter(({ type }) => type === 'file')).toHaveLength(1000);
  });
});
