import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { Scene, expectSame, remember } from './scene.js';

interface Finding {
  readonly level: string;
  readonly what: string;
}

async function fixed(scene: Scene, code = 0): Promise<string[]> {
  const { data } = await scene.json(['doctor', '--fix'], { code });
  return (data.findings as Finding[]).filter(({ level }) => level === 'fixed').map(({ what }) => what);
}

async function problems(scene: Scene): Promise<string[]> {
  const { data } = await scene.json(['doctor'], { code: [0, 7] });
  return (data.findings as Finding[]).filter(({ level }) => level === 'problem').map(({ what }) => what);
}

async function threeSnapshots(): Promise<Scene> {
  const scene = new Scene();
  for (const text of ['1', '2', '3']) {
    scene.write({ a: text });
    await scene.save();
  }
  return scene;
}

function history(scene: Scene): string {
  return storeGit(scene.dataDir, ['log', '--format=%H %s', 'refs/jackin/t/3']).stdout;
}

describe('doctor --fix', () => {
  test('has nothing to do where nothing is wrong, nor where nothing is', async () => {
    expect(await fixed(new Scene())).toEqual([]);
    const scene = await threeSnapshots();
    const before = remember(scene.store);
    expect(await fixed(scene)).toEqual([]);
    expectSame(before);
  });

  test.each(['', 'garbage\n', '0123', `${'1'.repeat(40)}\n`])(
    "gives a snapshot's ref that holds %j its snapshot back, and its pin",
    async (content) => {
      const scene = await threeSnapshots();
      await scene.run(['pin', '2']);
      const was = history(scene);
      for (const name of ['refs/jackin/t/2', 'refs/jackin-pin/t/2']) writeFileSync(join(scene.store, name), content);
      expect(await problems(scene)).not.toEqual([]);
      expect((await fixed(scene)).join('\n')).toMatch(/t\/2/);
      expect(await problems(scene)).toEqual([]);
      expect(history(scene)).toBe(was);
      expect(fsckStrict(scene.dataDir)).toEqual([]);
      await scene.restore(2);
      expect(scene.read('a')).toBe('2');
      expect((await scene.list()).find(({ seq }) => seq === 2)).toMatchObject({ pinned: true, restorable: true });
    },
  );

  test('puts no commit of a killed save in the place of a snapshot that is lost', async () => {
    const scene = await threeSnapshots();
    const git = (args: string[], stdin?: string): string =>
      storeGit(scene.dataDir, ['--no-replace-objects', ...args], stdin === undefined ? {} : { stdin }).stdout;
    const ref = 'refs/jackin/t/3';
    const published = git(['rev-parse', ref]).trim();
    const [was, other] = [git(['rev-parse', `${ref}^{tree}`]), git(['rev-parse', 'refs/jackin/t/1^{tree}'])];
    const unpublished = git(['cat-file', 'commit', ref]).replace(was.trim(), other.trim());
    git(['hash-object', '-t', 'commit', '-w', '--stdin'], unpublished);
    const packs = join(scene.store, 'objects/pack');
    const holdsIt = (index: string): boolean => git(['verify-pack', '-v', join(packs, index)]).includes(published);
    const index = readdirSync(packs).find((name) => name.endsWith('.idx') && holdsIt(name))!;
    for (const name of [index, index.replace('.idx', '.pack')]) rmSync(join(packs, name));
    await fixed(scene, 7);
    expect(readFileSync(join(scene.store, ref), 'utf8').trim()).toBe(published);
    expect((await problems(scene)).length).toBeGreaterThan(0);
  });

  test('leaves a pin alone whose ref holds another snapshot', async () => {
    const scene = await threeSnapshots();
    await scene.run(['pin', '2']);
    const [ref, pin] = ['refs/jackin/t/2', 'refs/jackin-pin/t/2'].map((name) => join(scene.store, name)) as [
      string,
      string,
    ];
    const pinned = readFileSync(pin, 'utf8');
    writeFileSync(ref, readFileSync(join(scene.store, 'refs/jackin/t/1')));
    await fixed(scene, 7);
    expect(readFileSync(pin, 'utf8')).toBe(pinned);
  });

  test('makes lost and damaged links of the history anew', async () => {
    const scene = await threeSnapshots();
    const was = history(scene);
    const links = join(scene.store, 'refs/replace');
    const [first, second] = readdirSync(links);
    rmSync(join(links, first!));
    writeFileSync(join(links, second!), '');
    expect((await fixed(scene)).length).toBeGreaterThan(0);
    expect(history(scene)).toBe(was);
    expect(was.trim().split('\n')).toHaveLength(3);
  });

  test('makes missing directories of the repository, its HEAD and its configuration anew', async () => {
    const scene = await threeSnapshots();
    rmdirSync(join(scene.store, 'objects/info'));
    rmSync(join(scene.store, 'HEAD'));
    truncateSync(join(scene.store, 'config'));
    expect((await fixed(scene)).length).toBe(3);
    expect(existsSync(join(scene.store, 'objects/info'))).toBe(true);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    expect(await scene.list()).toHaveLength(3);
  });

  test('removes what killed processes left, and damaged caches', async () => {
    const scene = await threeSnapshots();
    const left = join(scene.store, 'objects/pack/tmp_pack_abc');
    writeFileSync(left, 'x');
    const cache = join(scene.dataDir, 'cache');
    const [stats] = readdirSync(cache).filter((name) => name.startsWith('stat-'));
    const bytes = readFileSync(join(cache, stats!));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(cache, stats!), bytes);
    expect((await fixed(scene)).length).toBe(2);
    expect(existsSync(left)).toBe(false);
    await scene.save();
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });

  test('does not make up what is lost: it is named', async () => {
    const scene = await threeSnapshots();
    for (const name of readdirSync(join(scene.store, 'objects/pack'))) rmSync(join(scene.store, 'objects/pack', name));
    await fixed(scene, 7);
    expect((await problems(scene)).length).toBeGreaterThan(0);
  });
});
