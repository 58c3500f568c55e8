import { linkSync, mkdirSync, symlinkSync, chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fsckStrict, refsOf, storeGit } from '../support/store-git.js';
import { commitFiles, createRepository } from '../support/user-git.js';
import { Scene } from './scene.js';

const raw = { env: { GIT_NO_REPLACE_OBJECTS: '1' } };

function git(scene: Scene, ...args: string[]): string {
  return storeGit(scene.dataDir, args).stdout.replace(/\n$/, '');
}

function trailer(scene: Scene, seq: number, key: string): string {
  const format = `--format=%(trailers:key=Jackin-${key},valueonly)`;
  return git(scene, 'log', '-1', format, `refs/jackin/t/${seq}`).trim();
}

async function threeSnapshots(): Promise<{ scene: Scene; base: string }> {
  const scene = new Scene();
  createRepository(scene.mount);
  const base = commitFiles(scene.mount, { a: '1\n' });
  scene.write({ x: '#!\n', 'd/same': 's' });
  chmodSync(scene.at('x'), 0o755);
  symlinkSync('a', scene.at('l'));
  mkdirSync(scene.at('empty/e'), { recursive: true });
  await scene.save([
    '-m',
    'first one\n\nwith a body\n',
    '--source-tool',
    'edit',
    '--phase',
    'p1',
    '--decision',
    'd1',
    '--resource',
    'r1',
  ]);
  for (const text of ['2\n', '3\n']) {
    scene.write({ a: text });
    await scene.save();
  }
  return { scene, base };
}

describe('the store, read with plain git,', () => {
  test('holds one commit without parent for each snapshot, and nothing else under refs/jackin', async () => {
    const { scene } = await threeSnapshots();
    const refs = [...refsOf(scene.store).keys()].filter((name) => name.startsWith('refs/jackin/'));
    expect(refs).toEqual(['refs/jackin/t/1', 'refs/jackin/t/2', 'refs/jackin/t/3']);
    for (const ref of refs) {
      const commit = storeGit(scene.dataDir, ['cat-file', 'commit', ref], raw).stdout;
      expect(commit).not.toMatch(/^parent /m);
      expect(git(scene, 'ls-tree', '--name-only', ref)).toBe('meta\nmounts');
    }
    const lines = git(scene, 'ls-tree', '-r', 'refs/jackin/t/1:mounts/m').split('\n');
    expect(lines.map((line) => line.replace(/ blob [0-9a-f]+\t/, ' '))).toEqual([
      '100644 a',
      '100644 d/same',
      '120000 l',
      '100755 x',
    ]);
    expect(git(scene, 'cat-file', 'blob', 'refs/jackin/t/1:mounts/m/a')).toBe('1');
    expect(fsckStrict(scene.dataDir)).toEqual([]);
  });

  test('tells in trailers what a snapshot is', async () => {
    const { scene, base } = await threeSnapshots();
    const told = ['Instance', 'Seq', 'Trigger', 'Source-Tool', 'Phase', 'Decision', 'Resource'];
    expect(told.map((key) => trailer(scene, 1, key))).toEqual(['t', '1', 'manual', 'edit', 'p1', 'd1', 'r1']);
    expect(trailer(scene, 1, 'Format')).not.toBe('');
    expect(trailer(scene, 1, 'Id')).toMatch(/^[0-9A-Z]{26}$/);
    expect(trailer(scene, 1, 'Mount')).toBe(`m clone ${scene.mount}`);
    expect(trailer(scene, 1, 'Base')).toBe(`m ${base} main`);
    expect([1, 2, 3].map((seq) => trailer(scene, seq, 'Previous'))).toEqual([
      '',
      git(scene, 'rev-parse', 'refs/jackin/t/1'),
      git(scene, 'rev-parse', 'refs/jackin/t/2'),
    ]);
    expect(git(scene, 'log', '-1', '--format=%s', 'refs/jackin/t/1')).toBe('first one');
    expect(git(scene, 'log', '-1', '--format=%b', 'refs/jackin/t/1')).toContain('with a body');
    const who = git(scene, 'log', '--format=%an <%ae> %cn <%ce>', 'refs/jackin/t/3').split('\n');
    expect(new Set(who).size).toBe(1);
  });

  test('cannot be lied to by a message, a label or a folder that looks like a trailer', async () => {
    const scene = new Scene();
    const folder = scene.folder('w\nJackin-Seq: 7', { a: 'a' });
    const lie = 'subject\n\nJackin-Seq: 9\nJackin-Mount: x plain /etc';
    await scene.save(['-m', lie, '--phase', 'p\nJackin-Instance: evil', '--meta', 'k=v\nJackin-Seq: 8'], {
      dirs: [folder],
      code: [0, 2],
    });
    if ((await scene.run(['list'], { code: [0, 3] })).code === 3) await scene.save(['-m', lie], { dirs: [folder] });
    const { data } = await scene.json(['show', '1']);
    expect(data.snapshot).toMatchObject({ instance: 't', seq: 1 });
    expect(data.mounts).toMatchObject([{ path: folder }]);
    scene.folder('w\nJackin-Seq: 7', { a: 'b' });
    await scene.restore();
    expect(await scene.content(1, 'a')).toBe('a');
  });

  test('shows the chain of snapshots in its log, and closes it after a deletion', async () => {
    const { scene } = await threeSnapshots();
    const id = (seq: number): string => git(scene, 'rev-parse', `refs/jackin/t/${seq}`);
    const ids = [3, 2, 1].map(id);
    const log = (): string[] => git(scene, 'log', '--format=%H', 'refs/jackin/t/3').split('\n');
    expect(log()).toEqual(ids);
    const patch = git(scene, 'log', '-p', '--format=', 'refs/jackin/t/3', '--', 'mounts/m/a');
    expect(patch.match(/^\+[123]$/gm)).toEqual(['+3', '+2', '+1']);
    expect(git(scene, 'blame', '-s', 'refs/jackin/t/3', '--', 'mounts/m/d/same')).toContain(ids[2]!.slice(0, 7));
    await scene.run(['delete', '2', '--yes']);
    expect(log()).toEqual([ids[0], ids[2]]);
    expect(id(3)).toBe(ids[0]);
    await scene.run(['delete', '1', '--yes']);
    expect(log()).toEqual([ids[0]]);
    expect(trailer(scene, 3, 'Previous')).toBe(ids[1]);
    scene.write({ a: '4\n' });
    await scene.save();
    expect(git(scene, 'log', '--format=%H', 'refs/jackin/t/4').split('\n')).toEqual([id(4), ids[0]]);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    const grafts = [...refsOf(scene.store).keys()].filter((name) => name.startsWith('refs/replace/'));
    expect(grafts).toEqual([`refs/replace/${id(4)}`]);
  });

  test('keeps what trees cannot say apart from the files, and only where it is unusual', async () => {
    const { scene } = await threeSnapshots();
    const plain = git(scene, 'ls-tree', '-r', '-l', 'refs/jackin/t/3:meta').length;
    chmodSync(scene.at('a'), 0o600);
    linkSync(scene.at('a'), scene.at('b'));
    await scene.save();
    const mounts = git(scene, 'ls-tree', '-r', 'refs/jackin/t/4:mounts/m');
    expect(mounts.match(/^100644 .*\t[ab]$/gm)).toHaveLength(2);
    expect(plain).toBeGreaterThan(0);
    expect(git(scene, 'diff', '--name-only', 'refs/jackin/t/3:mounts', 'refs/jackin/t/4:mounts')).toBe('m/b');
  });
});

describe('a save when nothing changed', () => {
  test('makes no snapshot when that was asked for, says so, and sees each kind of change', async () => {
    const scene = new Scene();
    scene.write({ a: 'a', 'd/f': 'f' });
    mkdirSync(scene.at('e'));
    const first = await scene.save(['--if-changed']);
    expect(first.data).toMatchObject({ created: true, snapshot: { seq: 1 } });
    const unchanged = await scene.save(['--if-changed']);
    expect(unchanged.data).toMatchObject({ created: false, snapshot: first.data.snapshot });
    scene.write({ a: 'a' });
    expect((await scene.run(['save', '--if-changed'])).stdout).toMatch(/changed/i);
    expect(await scene.numbers()).toEqual([1]);
    const changes: (() => void)[] = [
      () => chmodSync(scene.at('a'), 0o600),
      () => chmodSync(scene.at('d'), 0o700),
      () => chmodSync(scene.mount, 0o700),
      () => scene.remove('e'),
      () => mkdirSync(scene.at('d/empty')),
      () => symlinkSync('a', scene.at('l')),
      () => {
        scene.remove('l');
        symlinkSync('b', scene.at('l'));
      },
      () => scene.remove('l'),
      () => scene.write({ a: 'b' }),
      () => linkSync(scene.at('a'), scene.at('b')),
      () => {
        scene.remove('b');
        scene.write({ b: 'b' });
        chmodSync(scene.at('b'), 0o600);
      },
    ];
    for (const [index, change] of changes.entries()) {
      change();
      const saved = await scene.save(['--if-changed']);
      expect(saved.data, `change ${index}`).toMatchObject({ created: true, snapshot: { seq: index + 2 } });
    }
    const last = changes.length + 1;
    expect((await scene.save(['--if-changed', '--full'])).data).toMatchObject({
      created: false,
      snapshot: { seq: last },
    });
    expect((await scene.save()).data).toMatchObject({ created: true, snapshot: { seq: last + 1, parent_seq: last } });
  });
});
