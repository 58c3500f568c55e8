import { expect } from 'vitest';
import type { RestoreResult } from '../../src/index.js';
import { parentOf } from '../support/bytes.js';
import { compareTrees } from '../support/compare.js';
import type { DamageAction } from '../support/damage-actions.js';
import { damageActions } from '../support/damage-actions.js';
import { damage } from '../support/damage.js';
import { expectedRestore, touchedWithoutNeed, wrongAfterRestore } from './expected-restore.js';
import { overGeneratedTrees } from './runs.js';
import type { Workspace } from './workspace.js';

const actions = Object.keys(damageActions) as DamageAction[];

overGeneratedTrees(
  'restore undoes damage, and undo brings the damage back',
  { withSpecial: true, withGitDirs: true },
  async (workspace, specs, seed) => {
    await workspace.fill(specs);
    const saved = workspace.walk();
    const { snapshot } = await workspace.save();
    damageAll(workspace, seed);
    const damaged = workspace.walk();
    const request = { deleteNewRepositories: seed % 3 === 0 };

    const before = workspace.fingerprint();
    const foretold = await workspace.restore(snapshot, { ...request, dryRun: true });
    expect(workspace.fingerprint()).toBe(before);

    const result = await workspace.restore(snapshot, request);
    const restored = workspace.walk();
    for (const { name } of workspace.mounts) {
      const expected = expectedRestore(saved.get(name)!, damaged.get(name)!, request.deleteNewRepositories);
      expect(wrongAfterRestore(expected, restored.get(name)!), name).toEqual([]);
      expect(new Set(pathsOf(result.failed, name)), name).toEqual(expected.obstructed);
      expect(unreported(expected.staying, saved.get(name)!, result, name), name).toEqual([]);
      expect(touchedWithoutNeed(damaged.get(name)!, restored.get(name)!, new Set(pathsOf(result.plan, name)))).toEqual(
        [],
      );
    }
    expectSameReport(foretold, result);

    if (result.emergencySnapshot === null) return;
    await workspace.undo();
    const undone = workspace.walk();
    for (const { name } of workspace.mounts)
      expect(compareTrees(damaged.get(name)!, undone.get(name)!), name).toEqual([]);
  },
);

function damageAll(workspace: Workspace, seed: number): void {
  for (const [index, { path }] of workspace.mounts.entries()) damage(path, seed + index, { rounds: 12, actions });
}

function pathsOf(reported: readonly { readonly mount: string; readonly path: string }[], name: string): string[] {
  return reported.filter(({ mount }) => mount === name).map(({ path }) => path);
}

/** What stays although the snapshot does not know it is named, itself or by what it stands in. */
function unreported(
  staying: ReadonlySet<string>,
  saved: readonly { readonly path: string }[],
  { kept, failed }: RestoreResult,
  name: string,
): string[] {
  const known = new Set(saved.map(({ path }) => path));
  const named = new Set([...pathsOf(kept, name), ...pathsOf(failed, name)]);
  const above = new Set([...named].flatMap((path) => ancestors(path)));
  return [...staying].filter(
    (path) => !known.has(path) && !above.has(path) && ![path, ...ancestors(path)].some((at) => named.has(at)),
  );
}

function ancestors(path: string): string[] {
  return path === '' ? [] : [parentOf(path), ...ancestors(parentOf(path))];
}

function expectSameReport(foretold: RestoreResult, done: RestoreResult): void {
  expect(foretold.plan).toEqual(done.plan);
  expect(foretold.kept).toEqual(done.kept);
  expect(foretold.failed).toEqual(done.failed);
  expect(foretold).toMatchObject({ dryRun: true, emergencySnapshot: null, changed: [] });
  const changed = done.changed.map(({ mount, path }) => `${mount}:${path}`);
  expect(changed.sort()).toEqual(done.plan.map(({ mount, path }) => `${mount}:${path}`).sort());
}
