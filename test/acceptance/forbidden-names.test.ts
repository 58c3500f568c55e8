import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { removeWithin } from '../support/remove-tree.js';
import { fsckStrict, pushToStrictServer } from '../support/store-git.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

describe('names that git forbids', () => {
  const spec: TreeSpec = [
    file('git~1', '1'),
    file('.git /x', '2'),
    file('sub/.GIT', '3'),
    symlink('.gitmodules', 'x'),
    file('.gIt.', '5'),
    file('GIT~2', '6'),
    file('.g\xe2\x80\x8cit', '7'),
    file('a\\..\\b', '8'),
    file('.git::$INDEX_ALLOCATION', '9'),
    symlink('.gitattributes', 'y'),
    symlink('.mailmap', 'y'),
    symlink('.gitignore', 'y'),
    file('%2egit', '10'),
    file('%', '11'),
    file('%%', '12'),
    file('sub/%2egit', '13'),
    directory('.Git', 0o711),
    file('.GIT.d/f', '14'),
    file('gitm/.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n'),
    file('gitn/.gitmodules', '[submodule "../../x"]\n\turl = ext::sh\n'),
    file('ok', 'ok'),
  ];

  test('are stored so that every checking git takes them, found by their own names, and come back', async () => {
    const scene = new Scene();
    await buildTree(scene.mount, spec);
    const wasThen = remember(scene.mount, { withGit: true });
    await scene.save();
    for (const { path } of walkTree(scene.mount, { hash: false }))
      if (!path.includes('/')) removeWithin(scene.mount, path);
    await scene.restore();
    expectSame(wasThen);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    const pushed = await pushToStrictServer(scene.dataDir);
    expect(pushed.accepted, pushed.output).toBe(true);
    for (const entry of spec) {
      if (entry.type !== 'file' || /[^\x20-\x7e]/.test(entry.path)) continue;
      expect(await scene.content(1, entry.path), entry.path).toBe(entry.content);
    }
    const wasBefore = remember(scene.mount);
    for (const path of ['git~1', 'sub/.GIT', '%2egit']) {
      scene.write({ [path]: 'changed' });
      expect((await scene.run(['diff', '1', '--exit-code', '--', path], { code: 1 })).stdout).toContain('+changed');
      await scene.restore(1, ['--', path]);
    }
    expectSame(wasBefore);
  });

  test('beside a repository of the user are no reason to touch it', async () => {
    const scene = new Scene();
    await buildTree(scene.mount, [
      file('.git/config', '[core]\n'),
      file('.git/HEAD', 'ref: refs/heads/main\n'),
      file('.GIT', 'upper'),
    ]);
    const untouched = rememberUntouched(scene.at('.git'));
    await scene.save();
    rmSync(scene.at('.GIT'));
    await scene.restore();
    expect(scene.read('.GIT')).toBe('upper');
    expectSame(untouched);
  });
});
