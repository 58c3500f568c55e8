import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSnap, snapBin, snapEnvironment } from '../support/cli.js';
import { startProcess } from '../support/run-process.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, rememberUntouched } from './scene.js';

function modesBelow(root: string): string[] {
  const open = walkTree(root, { withRoot: true, hash: false }).filter(
    ({ path, type, mode }) => type === 'directory' && (mode & 0o077) !== 0 && !path.startsWith('store.git/'),
  );
  return open.map(({ path, mode }) => `${path} ${mode.toString(8)}`);
}

describe('the data directory', () => {
  test.each(['000', '022', '077'])('is private from the start, whatever the umask (%s)', async (umask) => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    const command = `umask ${umask}; exec "${process.execPath}" "${snapBin}" --data-dir "${scene.dataDir}" -i t save .`;
    const run = await startProcess('/bin/sh', ['-c', command], {
      cwd: scene.mount,
      env: snapEnvironment(scene.home),
      timeout: 60_000,
    }).done;
    expect(run.code, run.stderr).toBe(0);
    expect(lstatSync(scene.dataDir).mode & 0o7777).toBe(0o700);
    expect(modesBelow(scene.dataDir)).toEqual([]);
  });

  test('that others may read or write is refused by every command, with the fix', async () => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    await scene.save();
    for (const mode of [0o755, 0o750, 0o705, 0o720, 0o702]) {
      chmodSync(scene.dataDir, mode);
      for (const args of [['save'], ['restore', '1', '--yes'], ['list']]) {
        const refused = await scene.json(args, { code: 9 });
        expect(refused.document.error, `${mode.toString(8)} ${args[0]}`).toMatchObject({ code: 'DATA_DIR_OPEN' });
        expect(refused.document.error?.hint).toContain(`chmod 700 ${scene.dataDir}`);
      }
    }
    chmodSync(scene.dataDir, 0o700);
    expect(await scene.numbers()).toEqual([1]);
  });

  test('is named by option, then by either variable, then lies in the home', async () => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    const at = (name: string): string => join(scene.area, name);
    const HOME = scene.home;
    const save = (env: Record<string, string>, ...args: string[]) =>
      runSnap([...args, '-i', 't', 'save', scene.mount], { env: { HOME, ...env }, cwd: scene.mount });
    const both = { JACKIN_SNAP_DATA_DIR: at('two'), JACKIN_HOME_DIR: at('three') };
    expect((await save(both, '--data-dir', at('one'))).code).toBe(0);
    expect((await save(both)).code).toBe(0);
    expect((await save({ JACKIN_HOME_DIR: at('three') })).code).toBe(0);
    expect((await save({})).code).toBe(0);
    for (const path of ['one', 'two', 'three/snapshots', 'home/.jackin/snapshots'])
      expect(readdirSync(at(path)), path).toContain('store.git');
    expect((await save({}, '--data-dir', '../relative')).code).toBe(0);
    expect(readdirSync(at('relative'))).toContain('store.git');
  });

  test('may be reached through a link, and is the same one', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const link = join(scene.area, 'link');
    symlinkSync(scene.dataDir, link);
    const run = (...args: string[]) => runSnap(['--data-dir', link, '-i', 't', ...args], { cwd: scene.mount });
    expect((await run('save')).code).toBe(0);
    expect(await scene.numbers()).toEqual([2, 1]);
    scene.write({ a: '2' });
    expect((await run('restore', '1', '--yes')).code).toBe(0);
    expect(scene.read('a')).toBe('1');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    // One that leads nowhere is no invitation to make something there.
    symlinkSync(join(scene.area, 'nowhere'), join(scene.area, 'dangling'));
    const dangling = await runSnap(['--data-dir', join(scene.area, 'dangling'), 'save', scene.mount]);
    expect([0, 9]).toContain(dangling.code);
  });

  test('reached through a link does not hide that it lies in the mount', async () => {
    const scene = new Scene();
    scene.write({ a: '1', 'sub/f': 'f' });
    mkdirSync(scene.at('data'), { mode: 0o700 });
    symlinkSync(scene.at('data'), join(scene.area, 'link'));
    const run = (...args: string[]) =>
      runSnap(['--data-dir', join(scene.area, 'link'), '-i', 't', ...args], { cwd: scene.mount });
    expect((await run('save', scene.mount)).code).toBe(4);
    expect((await run('save', '--allow-unsafe-mount', scene.mount)).code).toBe(0);
    const tree = await run('tree', '1', '--json');
    expect(tree.stdout).not.toContain('store.git');
    scene.write({ a: '2' });
    expect((await run('restore', '1', '--yes')).code).toBe(0);
    expect(scene.read('a')).toBe('1');
    expect((await run('verify')).code).toBe(0);
    expect((await run('undo', '--yes')).code).toBe(0);
    expect(scene.read('a')).toBe('2');
    expect(readdirSync(scene.at('data'))).toContain('store.git');
  });

  test('may be moved', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    const moved = join(scene.area, 'moved');
    renameSync(scene.dataDir, moved);
    expect((await runSnap(['--data-dir', moved, '-i', 't', 'restore', '1', '--yes'], { cwd: scene.mount })).code).toBe(
      0,
    );
    expect(scene.read('a')).toBe('1');
  });

  test('without its caches, locks and lists is the same', async () => {
    const scene = new Scene();
    scene.write({ a: '1', b: '1' });
    await scene.save();
    for (const name of ['cache', 'locks', 'journals'])
      rmSync(join(scene.dataDir, name), { recursive: true, force: true });
    scene.write({ a: '2' });
    await scene.save();
    for (const name of readdirSync(join(scene.dataDir, 'cache')))
      writeFileSync(join(scene.dataDir, 'cache', name), 'rubbish');
    await scene.save();
    expect(await scene.content(3, 'a')).toBe('2');
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
    rmSync(join(scene.dataDir, 'instances'), { recursive: true });
    expect(await scene.content('t/2', 'a')).toBe('2');
    await scene.restore('t/2', [], { code: [0, 3] });
    const saved = await scene.json(['save', scene.mount]);
    expect(saved.data.snapshot.seq).toBe(Number(saved.data.snapshot.parent_seq) + 1);
  });

  test('that may not be written is said, and nothing is changed by trying', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    scene.asUser(() => {
      for (const name of [
        'locks',
        'instances',
        'journals',
        'cache',
        'store.git/objects',
        'store.git/refs',
        'store.git',
        '.',
      ])
        chmodSync(join(scene.dataDir, name), 0o500);
    });
    const untouched = rememberUntouched(scene.mount);
    for (const args of [['save'], ['restore', '1', '--yes'], ['undo', '--yes'], ['delete', '1', '--yes']]) {
      const run = await scene.run(args, { code: [3, 9] });
      expect(run.stderr, args.join(' ')).not.toMatch(/^\s+at /m);
    }
    expectSame(untouched);
    scene.asUser(() => {
      for (const name of [
        '.',
        'store.git',
        'store.git/objects',
        'store.git/refs',
        'locks',
        'instances',
        'journals',
        'cache',
      ])
        chmodSync(join(scene.dataDir, name), 0o700);
    });
    await scene.restore();
    expect(scene.read('a')).toBe('1');
  });

  test.skipIf(!isRoot)('of another user is refused', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: '1' });
    mkdirSync(scene.dataDir, { mode: 0o700 });
    const refused = await scene.json(['save', scene.mount], { code: 9 });
    expect(refused.document.error?.code).toBe('DATA_DIR_DENIED');
  });
});
