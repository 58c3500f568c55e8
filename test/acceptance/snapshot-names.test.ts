import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Scene } from './scene.js';

interface Named {
  readonly id: string;
  readonly ref: string;
  readonly commit: string;
}

async function three(): Promise<{ scene: Scene; named: readonly Named[] }> {
  const scene = new Scene();
  const named: Named[] = [];
  for (const text of ['1', '2', '3']) {
    scene.write({ a: text });
    named.push((await scene.save()).data.snapshot as Named);
  }
  return { scene, named };
}

describe('a snapshot', () => {
  test('of an instance that is not there is told from a number that is not', async () => {
    const { scene } = await three();
    const unknown = await scene.run(['show', 'nobody/1'], { code: 3 });
    expect(unknown.stderr).toContain('There is no instance nobody.');
    expect(unknown.stderr).not.toContain('nobody list');
    expect((await scene.run(['show', 't/9'], { code: 3 })).stderr).toContain('No snapshot of t is "t/9".');
  });

  test('is found by number, place, ULID, ref and commit, whole or in part', async () => {
    const { scene, named } = await three();
    const names: [name: string, content: string][] = [
      ['1', '1'],
      ['3', '3'],
      ['latest', '3'],
      ['latest~0', '3'],
      ['latest~2', '1'],
      ['first', '1'],
      ['t/2', '2'],
    ];
    for (const [index, { id, ref, commit }] of named.entries()) {
      const content = String(index + 1);
      const forms = [id, id.toLowerCase(), id.slice(0, 22), ref, commit, commit.slice(0, 12), commit.toUpperCase()];
      if (index === 0) names.push(...forms.map((form): [string, string] => [form, content]));
      else names.push([id, content], [ref, content], [commit.slice(0, 12), content]);
    }
    for (const [name, content] of names) expect(await scene.content(name, 'a'), name).toBe(content);
  });

  test('is not found by a name that means none, or more than one', async () => {
    const { scene, named } = await three();
    for (const name of [
      'latest~3',
      '4',
      '00',
      '-1',
      '1.0',
      '0x1',
      'refs/jackin/t/4',
      'refs/heads/main',
      't/4',
      'nobody/1',
    ])
      await scene.run(['show', '--', name], { code: [2, 3] });
    for (const name of ['0', 'HEAD', 'latest~', 'latest~-1', 'latest^', 'FIRST', ''])
      await scene.run(['show', name], { code: [2, 3] });
    // All were made in the same years.
    const ambiguous = await scene.json(['show', named[0]!.id.slice(0, 5)], { code: 2 });
    expect(ambiguous.document.error).toMatchObject({ code: 'SNAPSHOT_AMBIGUOUS' });
    expect(ambiguous.document.error?.hint).toContain('list');
  });

  test('keeps its name when others go', async () => {
    const { scene, named } = await three();
    await scene.run(['delete', '1', '--yes']);
    expect(await scene.content('first', 'a')).toBe('2');
    expect(await scene.content('2', 'a')).toBe('2');
    expect(await scene.content('latest~1', 'a')).toBe('2');
    await scene.run(['cat', named[0]!.id, 'a'], { code: 3 });
    await scene.run(['cat', named[0]!.commit, 'a'], { code: 3 });
  });

  test('of another instance is named with it', async () => {
    const { scene } = await three();
    const other = scene.folder('other', { a: 'other' });
    await scene.save([], { instance: 'other', dirs: [other] });
    expect(await scene.content('other/1', 'a')).toBe('other');
    expect(await scene.content('refs/jackin/other/1', 'a')).toBe('other');
    await scene.run(['cat', 'other/2', 'a'], { code: 3 });
    expect((await scene.run(['cat', 't/2', 'a'], { cwd: other, instance: null })).stdout).toBe('2');
    const compared = await scene.run(['diff', 't/1', 'other/1', '--exit-code'], { code: [0, 1, 2, 3, 4] });
    expect(compared.stderr).not.toMatch(/^\s+at /m);
  });
});

describe('the instance', () => {
  test('is that of the innermost folder around, also from deep within it', async () => {
    const { scene } = await three();
    mkdirSync(scene.at('deep/er'), { recursive: true });
    for (const cwd of [scene.mount, scene.at('deep'), scene.at('deep/er')]) {
      const listed = await scene.json(['list'], { cwd, instance: null });
      expect(listed.data).toMatchObject({ instance: 't' });
      expect((await scene.run(['cat', '2', 'a'], { cwd, instance: null })).stdout).toBe('2');
    }
    const inner = await scene.json(['save', scene.at('deep')], { instance: null });
    const name = inner.data.snapshot.instance as string;
    expect(name).toMatch(/^deep-[0-9a-f]{8}$/);
    for (const [cwd, instance] of [
      [scene.mount, 't'],
      [scene.at('deep/er'), name],
    ] as const)
      expect((await scene.json(['list'], { cwd, instance: null })).data.instance).toBe(instance);
    await scene.run(['list'], { cwd: scene.outside, instance: null, code: 3 });
  });

  test('is asked for where several have the folder', async () => {
    const { scene } = await three();
    await scene.save([], { instance: 'second', dirs: [scene.mount] });
    const asked = await scene.json(['list'], { instance: null, code: 2 });
    expect(asked.document.error).toMatchObject({ code: 'INSTANCE_AMBIGUOUS' });
    expect(asked.document.error?.hint).toMatch(/-i t.*-i second|-i second.*-i t/);
    await scene.run(['instance', 'close'], { instance: 'second' });
    expect((await scene.json(['list'], { instance: null })).data.instance).toBe('t');
  });

  test('of a folder that nobody named is the same each time, by whatever way it is reached', async () => {
    const scene = new Scene();
    scene.write({ a: '1', 'd/f': 'f' });
    const names = new Set<string>();
    for (const [cwd, ...args] of [
      [scene.mount],
      [scene.area, 'm'],
      [scene.area, './m/'],
      [scene.mount, '.'],
      [scene.at('d'), '..'],
    ])
      names.add((await scene.json(['save', ...args], { cwd: cwd!, instance: null })).data.snapshot.instance as string);
    expect([...names]).toEqual([expect.stringMatching(/^m-[0-9a-f]{8}$/)]);
  });
});
