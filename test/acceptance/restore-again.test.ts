import { existsSync, mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../support/user-git.js';
import { interrupted } from './killed-restore.js';
import { Scene, expectSame, remember, said } from './scene.js';

// A restore may take away the very rule that made it keep a path. The same restore once more is to keep it, too.

describe('the same restore again', () => {
  test.each([
    { what: 'an ignore file that is new', then: {}, rules: { '.gitignore': 'build/\n*.log\n' } },
    {
      what: 'an ignore file that was changed',
      then: { '.gitignore': '*.o\n' },
      rules: { '.gitignore': 'build/\n*.log\n' },
    },
  ])('changes nothing more, though $what was put back', async ({ then, rules }) => {
    const scene = new Scene();
    scene.write({ a: 'then', ...then });
    await scene.save();
    scene.write({ ...rules, 'build/x': 'built', 'sub/y.log': 'logged', a: 'now', new: 'new' });
    const first = await scene.restore();
    expect(first.data.kept.map(({ path }: { path: string }) => path).sort()).toEqual(['build', 'sub/y.log']);
    const after = remember(scene.mount);
    const again = await scene.restore();
    expect(again.data.plan).toEqual([]);
    expect((await scene.list()).length).toBe(2);
    expectSame(after);
    // Nor does one that has something else to do.
    scene.write({ a: 'later', other: 'new' });
    await scene.restore();
    expect([scene.read('a'), existsSync(scene.at('other'))]).toEqual(['then', false]);
    await scene.restore();
    expectSame(after);
  });

  test('takes away what no rule ever kept', async () => {
    const scene = new Scene();
    scene.write({ a: 'then' });
    await scene.save();
    scene.write({ '.gitignore': 'build/\n' });
    mkdirSync(scene.at('build'));
    await scene.restore();
    scene.write({ 'built/x': 'new', 'build.txt': 'new' });
    await scene.restore();
    expect([existsSync(scene.at('built')), existsSync(scene.at('build.txt')), existsSync(scene.at('build'))]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe('of a restore that was killed in the middle', () => {
  test('one that takes an ignore file away keeps what that ignored when it is given again', async () => {
    const { scene } = await interrupted(undefined, (mount) => {
      writeFiles(mount, { '.gitignore': 'build/\n', 'build/x': 'built' });
    });
    await scene.run(['restore', '1', '--yes']);
    expect([existsSync(scene.at('.gitignore')), scene.read('build/x')]).toEqual([false, 'built']);
  });

  test('it says how to have back all of it, when what was changed meanwhile was restored after it', async () => {
    const { scene } = await interrupted();
    scene.write({ a: 'edited meanwhile' });
    const [first, ...rest] = (await scene.list()).map(({ seq }) => seq);
    const { stdout, stderr } = await scene.run(['restore', '1', '--yes']);
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ')).toContain(`the state before it is snapshot ${String(first)}`);
    expect(rest).toEqual([2, 1]);
    await scene.restore(first);
    expect([scene.read('a'), scene.read('b'), scene.read('new/file')]).toEqual(['2', '2', 'new']);
  });

  test('one that is taken back leaves nothing that an undo would take back', async () => {
    const { scene } = await interrupted();
    expect(said(await scene.run(['recover', '--abort', '--yes']))).not.toContain('undo');
  });
});
