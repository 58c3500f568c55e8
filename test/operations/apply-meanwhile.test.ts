import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { StoredDirectory } from '../../src/core/entry.js';
import { type HostPath, rootPath } from '../../src/core/entry-path.js';
import { openMount } from '../../src/fs/held-directory.js';
import { Interruption } from '../../src/operations/interruption.js';
import { treeFingerprint } from '../support/compare.js';
import { directory, file, hardLink, symlink } from '../support/tree-plan.js';
import { ApplyScene, asNobody, canBecomeNobody, countSteps, mortal, nobody } from './apply-scene.js';
import { forms, scenes } from './apply-scenes.js';

/** What somebody does to the path `x` between the plan and its application. */
const meddling: Readonly<Record<string, (path: string) => void>> = {
  'writes to it': (path) => writeFileSync(path, 'mine!\n'),
  'writes as many bytes to it': (path) => writeFileSync(path, 'not\n'),
  'changes its mode': (path) => chmodSync(path, 0o640),
  'replaces it by another file': (path) => {
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, 'mine!\n', { mode: 0o640 });
  },
  'replaces it by a link': (path) => {
    rmSync(path, { recursive: true, force: true });
    symlinkSync('/etc/passwd', path);
  },
  'replaces it by a folder with something in it': (path) => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    writeFileSync(join(path, 'mine'), 'mine!\n');
  },
};

describe('a path that moved on since the plan is left as it is, and named', () => {
  const files = ['writes to it', 'writes as many bytes to it', 'changes its mode'];
  const replacing = [
    'replaces it by another file',
    'replaces it by a link',
    'replaces it by a folder with something in it',
  ];
  const rows = [
    ...[...files, ...replacing].map((does) => ({ then: 'absent', now: 'a file', does })),
    ...[...files, ...replacing].map((does) => ({ then: 'a file', now: 'a file of other content', does })),
    ...[...files, ...replacing].map((does) => ({ then: 'a file', now: 'a file of another mode', does })),
    ...[...files, ...replacing].map((does) => ({ then: 'a symlink', now: 'a file', does })),
    ...[...files, ...replacing.slice(0, 2)].map((does) => ({ then: 'an empty folder', now: 'a file', does })),
    ...replacing.map((does) => ({ then: 'absent', now: 'a symlink', does })),
    ...replacing.map((does) => ({ then: 'another symlink', now: 'a symlink', does })),
    ...replacing.map((does) => ({ then: 'a file', now: 'a symlink', does })),
    ...replacing.map((does) => ({ then: 'a file', now: 'absent', does })),
    ...replacing.map((does) => ({ then: 'a symlink', now: 'absent', does })),
    ...replacing.slice(0, 2).map((does) => ({ then: 'an empty folder', now: 'absent', does })),
    ...replacing.map((does) => ({ then: 'absent', now: 'an empty folder', does })),
    ...replacing.map((does) => ({ then: 'a file', now: 'an empty folder', does })),
  ];
  test.each(rows)('then $then, now $now: somebody $does', async ({ then, now, does }) => {
    const scene = await ApplyScene.make([...forms[then]!('x'), file('z', 'Z')], [...forms[now]!('x'), file('z', 'ZZ')]);
    meddling[does]!(join(scene.mount, 'x'));
    const before = fingerprintOf(scene, 'x');
    const { skipped, done } = await scene.apply();
    expect(skipped.map(({ path }) => path)).toEqual(['x']);
    expect(skipped[0]!.reason).toMatch(/^(changed_meanwhile|not_empty)$/);
    expect(fingerprintOf(scene, 'x')).toEqual(before);
    // All else is done.
    expect(done.map(({ path }) => path)).toEqual(['z']);
    expect(readFileSync(join(scene.mount, 'z'), 'utf8')).toBe('Z');
    expect(scene.temporaries()).toEqual([]);
  });

  test('a path that somebody brought into its state already counts as done', async () => {
    const scene = await ApplyScene.make([file('x', 'one'), file('y', 'two', 0o600)], [file('x', 'three')]);
    writeFileSync(join(scene.mount, 'x'), 'one');
    writeFileSync(join(scene.mount, 'y'), 'two', { mode: 0o644 });
    const { skipped } = await scene.apply();
    expect([skipped, scene.unlikeThen()]).toEqual([[], []]);
  });

  test('a folder that somebody filled is not deleted, and keeps what is in it', async () => {
    const scene = await ApplyScene.make([], [directory('d'), file('d/f', 'F')]);
    writeFileSync(join(scene.mount, 'd/mine'), 'mine');
    const { skipped } = await scene.apply();
    expect(skipped).toEqual([{ path: 'd', reason: 'not_empty' }]);
    expect(readdirSync(join(scene.mount, 'd'))).toEqual(['mine']);
  });

  test.each(['d', ''])('the folder "%s" whose mode somebody changed keeps it', async (path) => {
    const scene = await ApplyScene.make([directory('d', 0o700)], [directory('d', 0o755)]);
    if (path === '') {
      const root: StoredDirectory = { kind: 'directory', path: rootPath, mode: 0o700, uid: 0, gid: 0 };
      const { uid, gid } = lstatSync(scene.mount);
      const at = (mode: number): StoredDirectory => ({ ...root, mode, uid, gid });
      scene.changes = [{ path: rootPath, action: 'chmod', reason: '', before: at(0o755), after: at(0o700) }];
    }
    chmodSync(join(scene.mount, path), 0o777);
    const { skipped } = await scene.apply();
    expect(skipped).toEqual([{ path, reason: 'changed_meanwhile' }]);
    expect(lstatSync(join(scene.mount, path)).mode & 0o7777).toBe(0o777);
  });

  test('a folder that is gone takes what was to come in it along', async () => {
    const scene = await ApplyScene.make([file('d/a', 'A'), file('z', 'Z')], [directory('d')]);
    rmSync(join(scene.mount, 'd'), { recursive: true });
    const { skipped } = await scene.apply();
    expect(skipped).toEqual([{ path: 'd/a', reason: 'changed_meanwhile' }]);
    expect(readdirSync(scene.mount)).toEqual(['z']);
  });
});

describe('link groups whose first path moved on', () => {
  test('are not joined to what is another file now', async () => {
    const scene = await ApplyScene.make([file('a', 'same'), hardLink('b', 'a')], [file('a', 'same'), file('b', 'x')]);
    // Nothing of this is in the plan: same size, same mode, other content.
    writeFileSync(join(scene.mount, 'a'), 'SAME');
    await scene.apply();
    expect(readFileSync(join(scene.mount, 'b'), 'utf8')).toBe('same');
    expect(readFileSync(join(scene.mount, 'a'), 'utf8')).toBe('SAME');
  });

  test('are not joined to a link out of the mount', async () => {
    const scene = await ApplyScene.make([file('a', 'same'), hardLink('b', 'a')], [file('a', 'same'), file('b', 'x')]);
    writeFileSync(join(scene.area, 'outside'), 'same');
    unlinkSync(join(scene.mount, 'a'));
    symlinkSync('../outside', join(scene.mount, 'a'));
    await scene.apply();
    expect(lstatSync(join(scene.area, 'outside')).nlink).toBe(1);
    expect(readFileSync(join(scene.mount, 'b'), 'utf8')).toBe('same');
  });
});

describe('nothing is written outside, whatever links are planted and swapped', () => {
  const then = [file('d/e/a', 'A'), file('d/e/b', 'B', 0o600), directory('d/e/n', 0o700), symlink('d/e/s', 'x')];
  const now = [file('d/e/b', 'BB'), file('d/e/old', 'O'), directory('d/e/gone'), directory('d/e/n')];
  /** Has the names that the plan works on, all to be found unharmed. */
  function makeOutside(scene: ApplyScene): string {
    const outside = join(scene.area, 'outside');
    rmSync(outside, { recursive: true, force: true });
    mkdirSync(join(outside, 'e/gone'), { recursive: true });
    mkdirSync(join(outside, 'e/n'));
    writeFileSync(join(outside, 'e/b'), 'BB');
    writeFileSync(join(outside, 'e/old'), 'O');
    return outside;
  }

  test.each(['d', 'd/e'])('when %s is a link from the beginning', async (swapped) => {
    const scene = await ApplyScene.make(then, now);
    const outside = makeOutside(scene);
    rmSync(join(scene.mount, swapped), { recursive: true });
    symlinkSync(swapped === 'd' ? outside : join(outside, 'e'), join(scene.mount, swapped));
    const before = treeFingerprint(outside);
    const { done } = await scene.apply();
    expect(treeFingerprint(outside)).toBe(before);
    expect(done.every(({ after }) => after === null)).toBe(true);
  });

  test.each(['d', 'd/e'])('when %s becomes a link at any step', async (swapped) => {
    const scene = await ApplyScene.make(then, now);
    const steps = await countSteps(scene);
    for (let step = 0; step < steps; step++) {
      await scene.build(now);
      const outside = makeOutside(scene);
      const before = treeFingerprint(outside);
      let count = 0;
      const root = openMount(scene.mount as HostPath);
      const swapping = mortal(root, { steps: Number.MAX_SAFE_INTEGER }, () => {
        if (count++ !== step) return;
        renameSync(join(scene.mount, swapped), join(scene.area, `moved-${step}`));
        symlinkSync(swapped === 'd' ? outside : join(outside, 'e'), join(scene.mount, swapped));
      });
      await scene.apply({ root: swapping });
      root.close();
      expect(treeFingerprint(outside), `step ${step}`).toBe(before);
    }
  });

  test('when a name that is to be made becomes a link at any step', async () => {
    const made = [file('a', 'A'), file('b', 'B'), symlink('s', 'x'), directory('f', 0o711)];
    const scene = await ApplyScene.make(made, [file('b', 'BB')]);
    const steps = await countSteps(scene);
    for (const name of ['a', 'b', 's', 'f'])
      for (let step = 0; step < steps; step++) {
        await scene.build(scene.now);
        const outside = join(scene.area, 'victim');
        rmSync(outside, { force: true });
        writeFileSync(outside, 'unharmed', { mode: 0o640 });
        let count = 0;
        const root = openMount(scene.mount as HostPath);
        const planting = mortal(root, { steps: Number.MAX_SAFE_INTEGER }, () => {
          if (count++ !== step) return;
          rmSync(join(scene.mount, name), { recursive: true, force: true });
          symlinkSync(outside, join(scene.mount, name));
        });
        await scene.apply({ root: planting });
        root.close();
        const { mode, nlink } = lstatSync(outside);
        expect([readFileSync(outside, 'utf8'), mode & 0o7777, nlink], `${name} at ${step}`).toEqual([
          'unharmed',
          0o640,
          1,
        ]);
      }
  });
});

describe('a signal', () => {
  test('ends the work between two paths, and leaves nothing half-done', async () => {
    const { then, now } = scenes[1]!;
    const scene = await ApplyScene.make(then, now);
    for (let allowed = 0; allowed < scene.changes.length * 3; allowed++) {
      await scene.build(now);
      const abort = new AbortController();
      let pauses = 0;
      const interruption = new (class extends Interruption {
        override async pause(): Promise<void> {
          if (pauses++ === allowed) abort.abort('SIGTERM');
          await super.pause();
        }
      })(abort.signal);
      await expect(scene.apply({ interruption })).rejects.toThrow(
        expect.objectContaining({ code: 'INTERRUPTED', data: { signal: 'SIGTERM' } }),
      );
      expect(scene.temporaries()).toEqual([]);
      await scene.apply();
      expect(scene.unlikeThen()).toEqual([]);
    }
  });

  test.runIf(canBecomeNobody)('gives back what was lent', async () => {
    const scene = await ApplyScene.make(
      [directory('d', 0o555)],
      [directory('d', 0o555), file('d/a', 'A'), file('d/b', 'B')],
      nobody,
    );
    const abort = new AbortController();
    await asNobody(async () => {
      const onLend = (): void => abort.abort('SIGINT');
      await expect(scene.apply({ onLend, interruption: new Interruption(abort.signal) })).rejects.toThrow();
    });
    expect(lstatSync(join(scene.mount, 'd')).mode & 0o7777).toBe(0o555);
    expect(readdirSync(join(scene.mount, 'd'))).toHaveLength(1);
  });
});

describe('what fails', () => {
  test.runIf(canBecomeNobody)('for want of rights is named, and all else is done', async () => {
    const scene = await ApplyScene.make(
      [file('d/a', 'A'), file('z', 'Z')],
      [directory('d'), file('d/a', 'AA')],
      nobody,
    );
    chownSync(join(scene.mount, 'd'), 0, 0);
    const { skipped, done } = await asNobody(() => scene.apply());
    expect(skipped).toContainEqual({ path: 'd/a', reason: 'not_permitted' });
    expect(done.map(({ path }) => path)).toContain('z');
    expect(readFileSync(join(scene.mount, 'd/a'), 'utf8')).toBe('AA');
    expect(scene.temporaries()).toEqual([]);
  });

  test.runIf(canBecomeNobody)('to be given to its owner is named, and has its content all the same', async () => {
    const scene = await ApplyScene.make([{ ...file('a', 'A'), owner: { uid: 7, gid: 7 } }], [file('a', 'AA')]);
    scene.changes.forEach(({ path }) => expect(path).toBe('a'));
    for (const path of [scene.area, scene.mount, join(scene.mount, 'a')]) chownSync(path, nobody.uid, nobody.gid);
    const { skipped, ownersNotSet } = await asNobody(() => scene.apply());
    expect([skipped, ownersNotSet]).toEqual([[], ['a']]);
    expect(readFileSync(join(scene.mount, 'a'), 'utf8')).toBe('A');
  });

  test('a name that is linked elsewhere is replaced, never written through', async () => {
    const scene = await ApplyScene.make([file('a', 'A', 0o600)], [file('a', 'B')]);
    linkSync(join(scene.mount, 'a'), join(scene.area, 'elsewhere'));
    await scene.apply();
    expect(readFileSync(join(scene.area, 'elsewhere'), 'utf8')).toBe('B');
    expect([scene.unlikeThen(), lstatSync(join(scene.area, 'elsewhere')).nlink]).toEqual([[], 1]);
  });
});

/** The path and all below it, as a text that changes with every touch but those of the access time. */
function fingerprintOf(scene: ApplyScene, path: string): unknown {
  return scene
    .look()
    .filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`))
    .map(({ ino, mode, sha256, target, mtimeNs, type }) => ({ ino, mode, sha256, target, mtimeNs, type }));
}
