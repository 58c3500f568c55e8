import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, remember } from './scene.js';

describe('hard links', () => {
  function groups(root: string): Record<string, string> {
    return Object.fromEntries(
      walkTree(root).flatMap(({ path, linkGroup }) => (linkGroup === null ? [] : [[path, linkGroup]])),
    );
  }

  async function linked(): Promise<{ scene: Scene; wasThen: ReturnType<typeof remember> }> {
    const scene = new Scene();
    scene.write({ 'a/one': 'group', 'z/single': 'single', 'b/other': 'other' });
    mkdirSync(scene.at('c'));
    linkSync(scene.at('a/one'), scene.at('b/two'));
    linkSync(scene.at('a/one'), scene.at('c/three'));
    linkSync(scene.at('b/other'), scene.at('a/zzz'));
    await scene.save();
    return { scene, wasThen: remember(scene.mount) };
  }

  test.each([
    { what: 'one name', break: (scene: Scene) => scene.remove('b/two') },
    { what: 'the first name', break: (scene: Scene) => scene.remove('a/one') },
    { what: 'all names', break: (scene: Scene) => scene.remove('a/one', 'b/two', 'c/three') },
    { what: 'the folder of one', break: (scene: Scene) => scene.remove('a') },
    {
      what: 'the tie, with the bytes as they were',
      break: (scene: Scene) => {
        scene.remove('b/two');
        scene.write({ 'b/two': 'group' });
      },
    },
    { what: 'the content of all of them', break: (scene: Scene) => scene.write({ 'c/three': 'GROUP' }) },
    { what: 'the mode of all of them', break: (scene: Scene) => chmodSync(scene.at('a/one'), 0o600) },
    {
      what: 'the borders of two groups',
      break: (scene: Scene) => {
        scene.remove('b/two', 'a/zzz');
        linkSync(scene.at('b/other'), scene.at('b/two'));
        linkSync(scene.at('a/one'), scene.at('a/zzz'));
      },
    },
    {
      what: 'a single file, which joined a group',
      break: (scene: Scene) => {
        scene.remove('z/single');
        linkSync(scene.at('a/one'), scene.at('z/single'));
      },
    },
    {
      what: 'one name, now a folder',
      break: (scene: Scene) => {
        scene.remove('a/one');
        scene.write({ 'a/one/in': 'in' });
      },
    },
  ])('across folders come back when $what changed', async ({ break: change }) => {
    const { scene, wasThen } = await linked();
    change(scene);
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
  });

  test('to a file outside are cut, not written through', async () => {
    const { scene, wasThen } = await linked();
    writeFileSync(join(scene.outside, 'precious'), 'precious');
    scene.remove('z/single', 'c/three');
    linkSync(join(scene.outside, 'precious'), scene.at('z/single'));
    linkSync(join(scene.outside, 'precious'), scene.at('c/three'));
    await scene.restore();
    expectSame(wasThen);
    expect(readFileSync(join(scene.outside, 'precious'), 'utf8')).toBe('precious');
    expect(lstatSync(join(scene.outside, 'precious')).nlink).toBe(1);
  });

  test('are cut and tied for the one path that was asked for', async () => {
    const { scene } = await linked();
    scene.write({ 'a/one': 'GROUP' });
    await scene.restore(1, ['--', 'b/two']);
    expect([scene.read('a/one'), scene.read('b/two'), scene.read('c/three')]).toEqual(['GROUP', 'group', 'GROUP']);
    await scene.undo();
    expect([scene.read('a/one'), scene.read('b/two'), scene.read('c/three')]).toEqual(['GROUP', 'GROUP', 'GROUP']);
    expect(groups(scene.mount)).toMatchObject({ 'b/two': 'a/one', 'c/three': 'a/one' });
  });

  test('are there in a copy elsewhere, an export and a tar', async () => {
    const { scene } = await linked();
    const wanted = groups(scene.mount);
    await scene.restore(1, ['--to', join(scene.area, 'copy')]);
    await scene.run(['export', '1', join(scene.area, 'export')]);
    await scene.run(['export', '1', join(scene.area, 'export.tar')]);
    mkdirSync(join(scene.area, 'untarred'));
    expect(spawnSync('tar', ['-C', join(scene.area, 'untarred'), '-xpf', join(scene.area, 'export.tar')]).status).toBe(
      0,
    );
    for (const copy of ['copy', 'export', 'untarred']) expect(groups(join(scene.area, copy)), copy).toEqual(wanted);
    expect(existsSync(scene.at('a/one'))).toBe(true);
  });

  test('to names that no snapshot holds are named when they are cut, and only then', async () => {
    const scene = new Scene();
    scene.write({ '.gitignore': 'ignored\n', one: 'then', two: 'then', three: 'then', apart: 'apart' });
    linkSync(scene.at('one'), scene.at('ignored'));
    linkSync(scene.at('two'), join(scene.outside, 'elsewhere'));
    linkSync(scene.at('three'), scene.at('three-again'));
    await scene.save();
    for (const name of ['one', 'two', 'three', 'apart']) writeFileSync(scene.at(name), 'now');
    for (const args of [['--dry-run'], []]) {
      const { data, document } = await scene.restore(1, args);
      const said = JSON.stringify([document.messages, data.messages]);
      expect(said).toContain('which no snapshot holds, are replaced or removed under these alone: one, two.');
    }
    expect([scene.read('one'), scene.read('ignored')]).toEqual(['then', 'now']);
    expect(readFileSync(join(scene.outside, 'elsewhere'), 'utf8')).toBe('now');
    scene.write({ three: 'once more' });
    expect(JSON.stringify((await scene.restore(1)).document)).not.toContain('which no snapshot holds');
  });
});
