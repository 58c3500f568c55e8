import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refsOf, storeGit } from '../support/store-git.js';
import { writeFiles } from '../support/user-git.js';
import { Scene } from './scene.js';

/** Four snapshots, of which the second is pinned, in packed refs; then one in a file of its own. */
async function withPackedRefs(): Promise<Scene> {
  const scene = new Scene();
  for (const text of ['1', '2', '3', '4', '5']) {
    scene.write({ a: text });
    await scene.save();
    if (text === '2') await scene.run(['pin', '2']);
    if (text === '4') await scene.run(['gc']);
  }
  return scene;
}

function objectsIn(scene: Scene): string[] {
  const args = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'];
  return storeGit(scene.dataDir, args).stdout.split('\n');
}

describe('a pinned snapshot whose ref is gone without a trace', () => {
  test.each([
    { what: 'the line of its ref', lost: /^.* refs\/jackin\/t\/2\n/m },
    { what: 'the line of its ref and the id of its pin', lost: /^.* refs\/jackin\/t\/2\n/m, spoilsPin: true },
    { what: 'all lines of its instance', lost: /^.* refs\/jackin\/t\/[0-9]+\n/gm },
  ])('is missed, and comes back: $what', async ({ lost, spoilsPin = false }) => {
    const scene = await withPackedRefs();
    const before = refsOf(scene.store);
    const path = join(scene.store, 'packed-refs');
    writeFileSync(path, readFileSync(path, 'latin1').replace(lost, ''), 'latin1');
    if (spoilsPin) writeFiles(scene.store, { 'refs/jackin-pin/t/2': 'garbage\n' });
    const { data } = await scene.json(['doctor'], { code: [0, 7] });
    expect(JSON.stringify(data)).toContain('Snapshot t/2 is pinned (refs/jackin-pin/t/2) and has no ref: it was lost.');
    await scene.json(['doctor', '--fix']);
    for (const name of ['refs/jackin/t/2', 'refs/jackin-pin/t/2'])
      expect(refsOf(scene.store).get(name)).toBe(before.get(name));
    await scene.restore(2);
    expect(scene.read('a')).toBe('2');
    expect(JSON.stringify((await scene.json(['doctor'])).data)).not.toContain('it was lost');
  });

  test('is not one that was removed', async () => {
    const scene = await withPackedRefs();
    await scene.run(['unpin', '2']);
    await scene.run(['delete', '2', '--yes']);
    expect(JSON.stringify((await scene.json(['doctor', '--fix'])).data)).not.toContain('it was lost');
    expect(refsOf(scene.store).has('refs/jackin/t/2')).toBe(false);
  });
});

const damages: { what: string; harm: (text: string) => string }[] = [
  { what: 'that is empty', harm: () => '' },
  { what: 'that ends after its heading', harm: (text) => text.slice(0, text.indexOf('\n') + 1) },
  { what: 'that has lost its last line', harm: (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1) },
  {
    what: 'that has lost its last half, to the end of a line',
    harm: (text) => text.slice(0, text.indexOf('\n', text.length / 2) + 1),
  },
  { what: 'that is zeros', harm: (text) => '\0'.repeat(text.length) },
  { what: 'that ends early', harm: (text) => text.slice(0, 150) },
  { what: 'that has lost lines at its end', harm: (text) => text.slice(0, 149).replace(/\n[^\n]*$/, '') },
  { what: 'with an id that is none', harm: (text) => text.replace(/. refs\/jackin\/t\/2\n/, 'v refs/jackin/t/2\n') },
  { what: 'with a name that is none', harm: (text) => text.replace('refs/jackin/t/3\n', 'refs/jackin/t/s\n') },
  { what: 'with a name of no kind', harm: (text) => text.replace('refs/jackin/t/1\n', 'refs/jaakin/t/1\n') },
  {
    what: 'with a line in the place of another',
    harm: (text) => text.replace('refs/jackin/t/1\n', 'refs/jackin/t/4\n'),
  },
];

describe.each(damages)('packed refs $what', ({ harm }) => {
  async function harmed(): Promise<{ scene: Scene; before: Map<string, string> }> {
    const scene = await withPackedRefs();
    const before = refsOf(scene.store);
    const path = join(scene.store, 'packed-refs');
    const text = readFileSync(path, 'latin1');
    expect(harm(text)).not.toBe(text);
    writeFileSync(path, harm(text), 'latin1');
    return { scene, before };
  }

  test('are reported; nothing is collected, and the next save is refused or is one that can be restored', async () => {
    const { scene } = await harmed();
    const { data } = await scene.json(['verify'], { code: 7 });
    expect((data.problems as string[]).join('\n')).toContain('packed-refs is damaged');
    const objects = objectsIn(scene);
    await scene.run(['gc'], { code: 7 });
    expect(objectsIn(scene)).toEqual(expect.arrayContaining(objects));
    scene.write({ a: '6' });
    const saved = await scene.json(['save'], { code: [0, 7] });
    if (saved.code !== 0) return;
    scene.write({ a: 'later' });
    await scene.restore(saved.data.snapshot.seq as number);
    expect(scene.read('a')).toBe('6');
    await scene.restore(5);
    expect(scene.read('a')).toBe('5');
  });

  test('are mended by doctor --fix: every snapshot and pin is there again', async () => {
    const { scene, before } = await harmed();
    await scene.json(['doctor', '--fix']);
    const after = refsOf(scene.store);
    for (const [name, oid] of before)
      if (name.startsWith('refs/jackin/')) expect([name, after.get(name)]).toEqual([name, oid]);
    await scene.run(['verify', '--full']);
    for (const seq of [1, 2, 3, 4, 5]) {
      await scene.restore(seq);
      expect(scene.read('a')).toBe(String(seq));
    }
  });
});

describe('packed refs that are gone', () => {
  test('are reported, no save uses a number again, and doctor --fix brings all back', async () => {
    const scene = await withPackedRefs();
    const before = refsOf(scene.store);
    rmSync(join(scene.store, 'packed-refs'));
    const { data } = await scene.json(['verify'], { code: 7 });
    expect((data.problems as string[]).join('\n')).toContain('packed-refs is damaged: it ends before refs/');
    rmSync(join(scene.store, 'refs/jackin/t/5'));
    scene.write({ a: '6' });
    expect((await scene.json(['save'])).data.snapshot.seq).toBe(5);
    await scene.json(['doctor', '--fix']);
    const after = refsOf(scene.store);
    for (const [name, oid] of before)
      if (/^refs\/jackin\/t\/[1-4]$/.test(name)) expect([name, after.get(name)]).toEqual([name, oid]);
    await scene.run(['verify', '--full']);
    expect((await scene.json(['save'])).data.snapshot.seq).toBe(6);
  });

  test('are not missed where all that they had was removed', async () => {
    const scene = await withPackedRefs();
    await scene.run(['unpin', '2']);
    for (const seq of ['4', '1', '3', '2']) {
      await scene.run(['delete', seq, '--yes']);
      await scene.run(['verify']);
    }
    expect((await scene.json(['save'])).data.snapshot.seq).toBe(6);
  });
});
