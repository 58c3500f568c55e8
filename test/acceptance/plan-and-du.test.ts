import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { treeFingerprint } from '../support/compare.js';
import { Scene } from './scene.js';

type Figures = Record<'bytes' | 'unique_bytes' | 'shared_bytes', number>;
type Used = Figures & { readonly instance: string; readonly snapshots: readonly Figures[] };

describe('plan', () => {
  test('of a folder that was never saved makes nothing, not even the data directory', async () => {
    const scene = new Scene();
    scene.write({
      a: 'a\n',
      'package.json': '{}',
      'node_modules/x': 'xxx',
      '.gitignore': '# c\n*.log\n',
      'b.log': 'l',
    });
    const before = treeFingerprint(scene.mount);
    const { data } = await scene.json(['plan', scene.mount]);
    expect(data).toMatchObject({
      instance: 't',
      new_instance: true,
      snapshot: { would_be_made: true, refusal: null },
      store: { data_directory: scene.dataDir, exists: false, size_bytes: 0 },
      restores: [],
    });
    expect(data.mounts).toMatchObject([
      { path: scene.mount, kind: 'plain', stored: { files: 3 }, to_read: { files: 3 } },
    ]);
    expect(data.mounts[0].left_out).toEqual([
      { reason: 'ignored', entries: 1, files: 1, bytes: 1, unknown: false },
      { reason: 'excluded', entries: 1, files: 1, bytes: 3, unknown: false },
    ]);
    expect(data.mounts[0].excludes).toMatchObject([
      { kind: 'secret' },
      { kind: 'stack', preset: 'node', file: '' },
      { kind: 'ignore_file', file: '.gitignore', patterns: ['*.log'] },
    ]);
    expect(existsSync(scene.dataDir)).toBe(false);
    expect(treeFingerprint(scene.mount)).toBe(before);
  });

  test('says what restores would change on the host, and writes nothing where there are snapshots', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', b: 'b\n' });
    await scene.save();
    scene.write({ a: 'changed\n' });
    await scene.save();
    scene.write({ b: 'changed\n', new: 'n\n' });
    const before = treeFingerprint(scene.dataDir);
    const { data } = await scene.json(['plan']);
    expect(treeFingerprint(scene.dataDir)).toBe(before);
    expect(data.mounts[0]).toMatchObject({ stored: { files: 3 } });
    expect(data.restores).toMatchObject([
      {
        which: 'latest',
        possible: true,
        plan: [
          { action: 'overwrite', host_path: scene.at('b') },
          { action: 'delete', host_path: scene.at('new') },
        ],
      },
      {
        which: 'first',
        plan: [{ host_path: scene.at('a') }, { host_path: scene.at('b') }, { host_path: scene.at('new') }],
      },
    ]);
    const text = (await scene.run(['plan'])).stdout;
    expect(text).toContain('A save would make a snapshot of instance t.');
    expect(text).toContain(`overwrite ${scene.at('b')}`);
  });

  test('agrees with the save that follows', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b\n', '.env': 's', 'd/.gitignore': 'x\n', 'd/x/y': 'y' });
    const { data: foreseen } = await scene.json(['plan', scene.mount]);
    const { data: saved } = await scene.save();
    expect(foreseen.mounts[0].stored).toEqual({ files: saved.stats.files_stored, bytes: saved.stats.bytes_stored });
    expect(foreseen.mounts[0].to_read.files).toBe(saved.stats.files_read);
    const reasons = saved.observed_only.map(({ reason }: { readonly reason: string }) => reason);
    expect(foreseen.mounts[0].left_out.map(({ reason }: { readonly reason: string }) => reason)).toEqual(reasons);
  });

  test('says why no snapshot would be made, and why no restore', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n' });
    const home = await scene.json(['plan', scene.home], { code: 4, instance: null });
    expect(home.data.snapshot).toMatchObject({ would_be_made: false, refusal: { code: 'MOUNT_UNSAFE' } });
    expect((await scene.json(['plan', scene.at('none')], { code: 4 })).data.snapshot.refusal.code).toBe('MOUNT_GONE');
    await scene.save();
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    const active = await scene.json(['plan']);
    expect(active.data.restores).toMatchObject([{ possible: false, refusals: [{ code: 'INSTANCE_ACTIVE' }] }]);
    await scene.run(['instance', 'deactivate']);
    await scene.run(['instance', 'close']);
    expect((await scene.json(['plan'], { code: 4 })).data.snapshot.refusal.code).toBe('INSTANCE_CLOSED');
  });
});

describe('du', () => {
  test('tells what is shared from what is unique, and adds up', async () => {
    const scene = new Scene();
    const noise = (seed: number): string =>
      Array.from({ length: 4000 }, (_, at) => ((at * 7919 + seed * 104_729) ** 2 % 1_000_003).toString(36)).join('');
    scene.write({ both: noise(1), first: noise(2) });
    await scene.save();
    scene.remove('first');
    scene.write({ second: noise(3) });
    await scene.save();
    const other = scene.folder('other', { both: noise(1) });
    await scene.save([], { instance: 'other', dirs: [other] });
    const { data } = await scene.json(['du', '--all']);
    const [o, t] = data.instances as [Used, Used];
    expect([o.instance, t.instance]).toEqual(['other', 't']);
    for (const used of [o, t, ...t.snapshots]) expect(used.bytes).toBe(used.unique_bytes + used.shared_bytes);
    const [one, two] = t.snapshots as [Figures, Figures];
    expect(one.unique_bytes).toBeGreaterThan(5000);
    expect(two.unique_bytes).toBeGreaterThan(5000);
    expect(one.shared_bytes).toBeGreaterThan(5000);
    expect(o.shared_bytes).toBeGreaterThan(5000);
    expect(o.unique_bytes).toBeLessThan(5000);
    const store = data.store as Record<'total_bytes' | 'reachable_bytes' | 'garbage_bytes' | 'overhead_bytes', number>;
    expect(store.total_bytes).toBe(store.reachable_bytes + store.garbage_bytes + store.overhead_bytes);
    expect(store.garbage_bytes).toBe(0);
    expect((await scene.json(['du'])).data.instances).toHaveLength(1);
    await scene.run(['delete', '1', '--yes']);
    const after = await scene.json(['du', '--all']);
    // What was its own alone is garbage now: it is too young to be removed.
    expect(after.data.store.garbage_bytes).toBeGreaterThanOrEqual(one.unique_bytes * 0.9);
  });

  test('without a store there is nothing; an instance that is not there is an error', async () => {
    const scene = new Scene();
    expect((await scene.json(['du', '--all'])).data.instances).toEqual([]);
    await scene.run(['du'], { code: 3 });
    expect(existsSync(scene.dataDir)).toBe(false);
  });
});
