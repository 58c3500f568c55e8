import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap, runSnapJson } from '../support/cli.js';
import { refsOf } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { walkTree } from '../support/walk.js';
import { thaw } from './frozen-store.js';
import { readSnapshot } from './second-reader.js';

// What format 1 promises: whatever was saved in it can be listed, checked, shown and brought back for ever.

test('a store of format 1 is listed and found whole', async () => {
  const dataDir = join(tempDir(), 'data');
  thaw('v1', dataDir);
  const { document } = await runSnapJson(['-i', 'demo', 'list'], { dataDir });
  const brief = document.data.snapshots.map(
    (one: { seq: number; message: string; pinned: boolean; restorable: boolean; files: number }) =>
      `${one.seq} ${one.message.split('\n')[0]}, ${one.files} files, ${one.pinned}, ${one.restorable}`,
  );
  expect(brief).toEqual([
    '4 One file, and one that is not there, 1 files, false, true',
    '3 Before the restore of snapshot demo/1, 23 files, false, true',
    '1 Before the change, 22 files, true, true',
  ]);
  const verified = await runSnapJson(['verify', '--full'], { dataDir });
  expect(verified.document).toMatchObject({ ok: true, data: { sound: true } });
});

test('and comes back as the second reader finds it', async () => {
  const area = tempDir();
  const dataDir = join(area, 'data');
  thaw('v1', dataDir);
  const { code } = await runSnap(['-i', 'demo', 'restore', '1', '--to', join(area, 'back'), '--yes'], { dataDir });
  expect(code).toBe(0);
  for (const { name, entries } of await readSnapshot(dataDir, 'demo', 1)) {
    const back = walkTree(join(area, 'back', name), { withRoot: true });
    const brief = (entry: {
      path: string;
      type: string;
      mode: number | null;
      sha256: string | null;
      target: string | null;
      linkGroup: string | null;
    }): unknown => {
      const { path, type, mode, sha256, target, linkGroup } = entry;
      return { path, type, mode: type === 'symlink' ? null : mode, sha256, target, linkGroup };
    };
    expect(back.map(brief)).toEqual(entries.map(brief));
  }
});

test('a number that was used in it is never used again', async () => {
  const dataDir = join(tempDir(), 'data');
  thaw('v1', dataDir);
  expect((await runSnap(['-i', 'demo', 'delete', '4', '--yes'], { dataDir })).code).toBe(0);
  expect(readFileSync(join(dataDir, 'instances/demo/last-seq'), 'utf8')).toBe('5\n');
  expect([...refsOf(join(dataDir, 'store.git')).keys()]).toEqual([
    'refs/jackin-pin/demo/1',
    'refs/jackin/demo/1',
    'refs/jackin/demo/3',
    'refs/replace/9f7c20f5237d010915886c8e92cf0772c3e012e5',
  ]);
});
