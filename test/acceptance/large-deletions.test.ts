import { describe, expect, test } from 'vitest';
import { Scene, expectSame, remember } from './scene.js';

/** Files with names from `first` on. */
function files(first: number, count: number, content = 'x'): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`d/f${first + index}`, content]));
}

/** A snapshot of `then` files, of which the folder has `now` ones more by now. */
async function grown(then: number, now: number): Promise<Scene> {
  const scene = new Scene();
  scene.write(files(0, then));
  await scene.save();
  scene.write(files(then, now));
  return scene;
}

describe('a restore that deletes most of what a folder holds', () => {
  test('needs --allow-large beside --yes, and changes nothing without it', async () => {
    const scene = await grown(20, 120);
    const before = remember(scene.mount);
    const { document, data } = await scene.restore(1, ['--dry-run']);
    expect(document.messages.join()).toContain('It deletes 120 of the 140 files in mount m.');
    expect(data.plan).toHaveLength(120);
    const refused = await scene.restore(1, [], { code: 5 });
    expect(refused.document.error).toMatchObject({ code: 'LARGE_DELETION' });
    expectSame(before);
    expect(await scene.list()).toHaveLength(1);
    await scene.run(['restore', '1', '--allow-large'], { code: 5 });
    expectSame(before);
    const { data: restored } = await scene.restore(1, ['--allow-large']);
    expect(restored.changes_reverted).toHaveLength(120);
    await scene.undo();
    expectSame(before);
  });

  test('is what the instance says that it is', async () => {
    const scene = await grown(120, 110);
    await scene.run(['instance', 'set', 'large_deletion_percent=40']);
    await scene.restore(1, [], { code: 5 });
    await scene.run(['instance', 'set', 'large_deletion_percent=101'], { code: 2 });
    await scene.run(['instance', 'set', 'large_deletion_percent=100']);
    await scene.restore();
  });

  test.each([
    { what: 'half of it', then: 120, now: 120 },
    { what: 'a hundred files', then: 1, now: 100 },
  ])('is not one that deletes $what', async ({ then, now }) => {
    const scene = await grown(then, now);
    const { data } = await scene.restore();
    expect(data.changes_reverted).toHaveLength(now);
  });

  test('is not one that overwrites, nor one that takes back what a restore made', async () => {
    const scene = new Scene();
    scene.write(files(0, 150));
    await scene.save();
    scene.write(files(0, 150, 'y'));
    await scene.restore();
    scene.remove('d');
    await scene.restore();
    await scene.undo();
    expect(scene.read('d/f1')).toBeNull();
    await scene.undo();
    expect(scene.read('d/f1')).toBe('x');
  });

  test('counts what is taken back but has changed since', async () => {
    const scene = new Scene();
    scene.write(files(0, 150));
    await scene.save();
    scene.remove('d');
    await scene.restore();
    scene.write(files(0, 150, 'mine'));
    await scene.undo([], { code: 5 });
    expect(scene.read('d/f1')).toBe('mine');
    await scene.undo(['--allow-large']);
    expect(scene.read('d/f1')).toBeNull();
  });
});
