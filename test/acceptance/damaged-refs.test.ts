import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scene, said } from './scene.js';

const ruins: { what: string; content: string }[] = [
  { what: 'is empty', content: '' },
  { what: 'holds garbage', content: 'garbage\n' },
  { what: 'is torn', content: '0123456789' },
  { what: 'names an object that is not there', content: `${'1'.repeat(40)}\n` },
];

interface Finding {
  readonly level: string;
  readonly what: string;
}

async function problems(scene: Scene): Promise<string[]> {
  const { data } = await scene.json(['doctor'], { code: [0, 7] });
  return (data.findings as Finding[]).filter(({ level }) => level === 'problem').map(({ what }) => what);
}

describe.each(ruins)("a snapshot's ref that $what", ({ content }) => {
  async function withRuin(seq: number): Promise<Scene> {
    const scene = new Scene();
    for (const text of ['1', '2', '3']) {
      scene.write({ a: text });
      await scene.save();
    }
    writeFileSync(join(scene.store, 'refs/jackin/t', String(seq)), content);
    return scene;
  }

  test('is listed as damaged, and named by doctor and verify', async () => {
    const scene = await withRuin(2);
    const listed = await scene.json(['list']);
    expect(listed.data.snapshots).toMatchObject([
      { seq: 3, restorable: true },
      { seq: 2, restorable: false, message: '(damaged)' },
      { seq: 1, restorable: true },
    ]);
    expect(listed.document.messages).toEqual(['Snapshot t/2 is damaged: see "verify".']);
    const newest = await scene.json(['list', '--limit', '2']);
    expect(newest.data.snapshots).toEqual(listed.data.snapshots.slice(0, 2));
    expect(newest.document.messages).toEqual(listed.document.messages);
    expect((await problems(scene)).join('\n')).toMatch(/t\/2/);
    expect((await problems(scene)).length).toBe(1);
    expect(said(await scene.run(['verify'], { code: 7 }))).toContain('t/2');
    for (const command of [
      ['show', '2'],
      ['restore', '2', '--yes'],
      ['pin', '2'],
      ['delete', '2', '--yes'],
    ])
      await scene.run(command, { code: 7 });
    // What is sound is as usable as ever.
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
    await scene.run(['log', '--oneline']);
    await scene.run(['instance', 'show']);
  });

  test('keeps its number when it was the last one; no history rests on it, and nothing of it is collected', async () => {
    const scene = await withRuin(3);
    expect((await scene.save()).data.snapshot).toMatchObject({ seq: 4, parent_seq: 2 });
    scene.write({ a: 'x' });
    expect((await scene.restore(1)).data.rollback_summary.emergency_snapshot.seq).toBe(5);
    expect((await scene.numbers()).sort()).toEqual([1, 2, 3, 4, 5]);
    // The file may be put right again: its objects must be there for that.
    await scene.run(['gc'], { code: 7 });
    await scene.run(['prune', '--yes'], { code: [0, 7] });
    expect(await scene.numbers()).toContain(3);
  });
});

test('whose file is mended is back as it was', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  const file = join(scene.store, 'refs/jackin/t/1');
  const oid = readFileSync(file, 'utf8');
  writeFileSync(file, '');
  await scene.save();
  await scene.run(['gc'], { code: 7 });
  writeFileSync(file, oid);
  await scene.run(['gc']);
  await scene.run(['verify', '--full']);
  expect(await scene.content(1, 'a')).toBe('1');
});

test('a pin that is damaged still keeps its snapshot, and doctor names it', async () => {
  const scene = new Scene();
  for (const text of ['1', '2', '3', '4']) {
    scene.write({ a: text });
    await scene.save();
  }
  await scene.run(['pin', '2']);
  writeFileSync(join(scene.store, 'refs/jackin-pin/t/2'), '');
  await scene.run(['instance', 'set', 'keep_last=1']);
  const { data } = await scene.json(['prune', '--dry-run']);
  expect((data.removed as { seq: number }[]).map(({ seq }) => seq)).toEqual([3]);
  expect((await problems(scene)).join()).toContain('refs/jackin-pin/t/2');
  rmSync(join(scene.store, 'refs/jackin-pin/t/2'));
  expect(await problems(scene)).toEqual([]);
});

test('filters match no snapshot of which nothing is known', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  await scene.save(['--trigger', 'pre_write']);
  writeFileSync(join(scene.store, 'refs/jackin/t/2'), '');
  for (const filter of [
    ['--trigger', 'manual'],
    ['--since', '2000-01-01'],
  ]) {
    const { data, document } = await scene.json(['list', ...filter]);
    expect((data.snapshots as { seq: number }[]).map(({ seq }) => seq)).toEqual([1]);
    expect(document.messages).toHaveLength(1);
  }
});
