import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HostPath } from '../../src/core/entry-path.js';
import { markOf } from '../../src/core/activity.js';
import { createSnap } from '../../src/index.js';
import { linuxProcesses } from '../../src/instance/processes.js';
import { writeFiles } from '../support/user-git.js';
import { Scene, expectSame, remember, said } from './scene.js';

describe('drill', () => {
  function filled(): Scene {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/b': 'b'.repeat(100_000), '.env.example': 'x', 'x.o': 'o', '.gitignore': '*.o\n' });
    symlinkSync('nowhere', scene.at('link'));
    linkSync(scene.at('a'), scene.at('d/again'));
    mkdirSync(scene.at('empty/deep'), { recursive: true });
    chmodSync(scene.at('d'), 0o500);
    return scene;
  }

  test('restores elsewhere, finds all as it was saved, and leaves nothing', async () => {
    const scene = filled();
    await scene.save();
    const before = remember(scene.mount);
    const room = scene.folder('room');
    const { data } = await scene.json(['drill', '--in', room]);
    expect(data).toMatchObject({ restorable: true, differences: [], snapshot: { seq: 1 } });
    expect(readdirSync(room)).toEqual([]);
    expectSame(before);
    expect(said(await scene.run(['drill', '1', '--in', room]))).toMatch(/as they were saved/);
    await scene.run(['drill', '1', '--in', join(room, 'not there')], { code: 2 });
    await scene.run(['drill', '9', '--in', room], { code: 3 });
    expect(readdirSync(room)).toEqual([]);
  });

  test('of several mounts, and of a snapshot that was limited to paths', async () => {
    const scene = filled();
    const other = scene.folder('other', { o: 'o' });
    const room = scene.folder('room');
    const mounts = ['--mount', `m=${scene.mount}`, '--mount', `other=${other}`];
    await scene.run(['-i', 'two', 'save', ...mounts]);
    await scene.run(['-i', 'two', 'save', '--path', 'm:d']);
    for (const snapshot of ['1', '2']) {
      const { data } = await scene.json(['-i', 'two', 'drill', snapshot, '--in', room]);
      expect(data).toMatchObject({ restorable: true, differences: [] });
    }
    expect(readdirSync(room)).toEqual([]);
  });

  test('of folders that lie in each other more deeply than descriptors are held', async () => {
    const scene = new Scene();
    const deep = Array.from({ length: 200 }, () => 'd').join('/');
    scene.write({ [`${deep}/f`]: 'deep\n' });
    await scene.save();
    const room = scene.folder('room');
    await scene.run(['drill', '--in', room]);
    expect(readdirSync(room)).toEqual([]);
  });

  test('tells what does not come back, exits 7, and leaves nothing', async () => {
    const scene = filled();
    await scene.save();
    const room = scene.folder('room');
    const packs = join(scene.store, 'objects/pack');
    const pack = join(
      packs,
      readdirSync(packs).find((name) => name.endsWith('.pack'))!,
    );
    const bytes = readFileSync(pack);
    // Somewhere in the content: what is not read back as it was saved must not pass.
    for (let at = 20; at < bytes.length - 20; at += 97) bytes[at]! ^= 0x40;
    chmodSync(pack, 0o600);
    writeFileSync(pack, bytes);
    await scene.run(['drill', '--in', room], { code: 7 });
    expect(readdirSync(room)).toEqual([]);
  });

  test.each(['drill', 'doctor --fix'])('what a killed one left is removed by: %s', async (command) => {
    const scene = filled();
    await scene.save();
    const room = scene.folder('room');
    const started = scene.start(['drill', '--in', room]);
    while (readdirSync(room).length === 0) await new Promise(setImmediate);
    process.kill(started.child.pid!, 'SIGKILL');
    await started.done;
    const [left] = readdirSync(room);
    expect(left).toMatch(/^jackin-snap-drill-/);
    expect(JSON.stringify((await scene.json(['doctor'])).data)).toContain(left);
    await scene.run(command === 'drill' ? ['drill', '--in', scene.folder('other room')] : command.split(' '));
    expect(readdirSync(room)).toEqual([]);
    expect(JSON.stringify((await scene.json(['doctor'])).data)).not.toContain('drill');
  });

  test('one that works is left alone by others', async () => {
    const scene = filled();
    await scene.save();
    const room = scene.folder('room');
    const name = `jackin-snap-drill-${'0'.repeat(26)}`;
    mkdirSync(join(room, name));
    const { pid } = process;
    const owner = markOf({ pid, start: linuxProcesses.startOf(pid) ?? '', bootId: linuxProcesses.bootId() });
    const note = { format: '1', parent: room, owner };
    writeFiles(join(scene.dataDir, 'drills'), { [name]: JSON.stringify(note) });
    await scene.run(['drill', '--in', room]);
    await scene.run(['doctor', '--fix']);
    expect(readdirSync(room)).toEqual([name]);
  });

  test('what is restored is in a folder that nobody else can enter', async () => {
    const scene = new Scene();
    // Progress is told of each 128 files, here while they are read back and have their modes.
    scene.write(Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`f${String(at)}`, 'x'])));
    chmodSync(scene.mount, 0o755);
    await scene.save();
    const room = scene.folder('room');
    const modes: number[] = [];
    const onProgress = ({ phase }: { readonly phase: string }): void => {
      if (phase !== 'store') return;
      for (const name of readdirSync(room)) modes.push(statSync(join(room, name)).mode & 0o077);
    };
    const env = { PATH: process.env['PATH'] };
    const snap = createSnap({ dataDir: scene.dataDir, cwd: scene.mount, instance: 't', env, onProgress });
    expect(await snap.drill({ snapshot: 'latest', in: room as HostPath })).toMatchObject({ ok: true });
    expect(modes).toEqual([0]);
    expect(readdirSync(room)).toEqual([]);
  });
});
