import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scene, said } from './scene.js';

const damages: { what: string; content: (whole: string) => string }[] = [
  { what: 'is empty', content: () => '' },
  { what: 'is torn', content: (whole) => whole.slice(0, whole.length / 2) },
  { what: 'is no JSON', content: () => '\u0000\u0000\u0000\u0000' },
  { what: 'has a version that is not known', content: (whole) => whole.replace('"format": "1"', '"format": "2"') },
];

/** Two instances, and the file of the first one damaged. */
async function sceneWith(content: (whole: string) => string) {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  const other = scene.folder('other', { b: '1' });
  const inOther = { instance: null, cwd: other } as const;
  await scene.run(['save'], inOther);
  const file = join(scene.dataDir, 'instances/t/instance.json');
  const damaged = content(readFileSync(file, 'utf8'));
  writeFileSync(file, damaged);
  return { scene, other, inOther, file, damaged };
}

describe.each(damages)('a record of an instance that $what', ({ content }) => {
  test('stands in nobody’s way but its own, is named, and is not written over', async () => {
    const { scene, other, inOther, file, damaged } = await sceneWith(content);
    writeFileSync(join(other, 'b'), '2');
    for (const command of [
      ['save'],
      ['list'],
      ['restore', '1', '--yes'],
      ['undo', '--yes'],
      ['diff', '1'],
      ['instance', 'show'],
      ['prune', '--yes'],
      ['gc'],
      ['verify'],
    ])
      await scene.run(command, inOther);

    expect(said(await scene.run(['doctor'], { ...inOther, code: 7 }))).toMatch(/Instance t is damaged/);
    const { data } = await scene.json(['instance', 'list']);
    expect(data.instances).toMatchObject([
      { name: expect.stringMatching(/^other-/) as unknown, state: 'open' },
      { name: 't', state: 'damaged', snapshots: 1, mounts: [{ path: scene.mount }] },
    ]);
    for (const command of [
      ['save'],
      ['instance', 'set', 'keep_last=3'],
      ['instance', 'close'],
      ['restore', '1', '--yes'],
    ])
      expect((await scene.json(command, { code: 2 })).document.error?.code).toBe('CONFIGURATION_INVALID');
    expect(readFileSync(file, 'utf8')).toBe(damaged);
    // What it saved can still be had.
    await scene.run(['restore', '1', '--to', join(scene.area, 'to'), '--yes']);
    expect(readFileSync(join(scene.area, 'to/a'), 'utf8')).toBe('1');
    expect(await scene.numbers()).toEqual([1]);
  });
});

test('a folder whose derived name is that of a damaged instance gets no new one in its place', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.run(['save'], { instance: null });
  const name = (await scene.json(['instance', 'list'])).data.instances[0].name as string;
  const file = join(scene.dataDir, 'instances', name, 'instance.json');
  writeFileSync(file, 'torn');
  for (const args of [['save'], ['save', scene.mount]])
    expect((await scene.json(args, { instance: null, code: 2 })).document.error?.code).toBe('CONFIGURATION_INVALID');
  expect(readFileSync(file, 'utf8')).toBe('torn');
  expect(said(await scene.run(['list'], { instance: null, code: 3 }))).toContain(name);
});

test('a new instance beside a damaged one says that the folder may have been that one’s', async () => {
  const { scene } = await sceneWith(() => '');
  const { document } = await scene.json(['save'], { instance: null });
  expect(document.messages.join('\n')).toContain('Instance t is damaged');
  expect((await scene.json(['save'], { instance: null })).document.messages).toEqual([]);
});

test('a damaged instance that somebody works in is in the way of a restore, as long as that lasts', async () => {
  const { scene, inOther } = await sceneWith((whole) => whole);
  const file = join(scene.dataDir, 'instances/t/instance.json');
  await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
  writeFileSync(file, '');
  const refused = await scene.json(['restore', '1', '--yes'], { ...inOther, code: 4 });
  expect(refused.document.error?.code).toBe('INSTANCE_ACTIVE');
  await scene.run(['instance', 'deactivate']);
  await scene.run(['restore', '1', '--yes'], inOther);
});

test('a damaged journal is in the way of restores of its instance only, and not of saves', async () => {
  const { scene, inOther } = await sceneWith((whole) => whole);
  writeFileSync(join(scene.dataDir, 'journals/t.journal'), 'garbage\n');
  scene.write({ a: '2' });
  expect((await scene.save()).data.snapshot.seq).toBe(2);
  await scene.run(['diff', '1']);
  await scene.run(['list']);
  for (const command of [
    ['restore', '1', '--yes'],
    ['undo', '--yes'],
    ['recover', '--abort', '--yes'],
    ['delete', '1', '--yes'],
  ])
    await scene.run(command, { code: command[0] === 'undo' ? [3, 7] : 7 });
  await scene.run(['restore', '1', '--yes'], inOther);
  const { data } = await scene.json(['instance', 'list']);
  expect(data.instances[1]).toMatchObject({ name: 't', pending_restore: true });
  expect(said(await scene.run(['doctor'], { code: 7 }))).toContain('t.journal');
});

describe('folders that are one by other names', () => {
  test('are no destination when they lie in the data directory', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const alias = join(scene.area, 'alias');
    symlinkSync(scene.dataDir, alias);
    mkdirSync(join(scene.dataDir, 'tmp'), { recursive: true });
    for (const path of [join(alias, 'x'), join(alias, 'tmp', 'x'), `${scene.dataDir}/`, join(scene.dataDir, 'x.tar')]) {
      await scene.run(['export', '1', path], { code: 2 });
      if (!path.endsWith('.tar')) await scene.run(['restore', '1', '--to', path, '--yes'], { code: 2 });
    }
    expect(existsSync(join(scene.dataDir, 'x'))).toBe(false);
    rmSync(alias);
  });
});
