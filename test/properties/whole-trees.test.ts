import { expect } from 'vitest';
import { compareTrees } from '../support/compare.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { overGeneratedTrees } from './runs.js';
import type { Trees, Workspace } from './workspace.js';

overGeneratedTrees('save reads only, and restore brings all of it back', {}, async (workspace, specs) => {
  await workspace.fill(specs);
  const before = workspace.fingerprint();
  const trees = workspace.walk();
  const { snapshot, complete, observedOnly } = await workspace.save();
  expect(workspace.fingerprint()).toBe(before);
  expect({ complete, observedOnly }).toEqual({ complete: true, observedOnly: [] });

  await expectNothingToDo(workspace, snapshot, before);

  workspace.clear();
  const restored = await workspace.restore(snapshot);
  expect(differences(trees, workspace.walk())).toEqual([]);
  expect(restored).toMatchObject({ failed: [], kept: [], verified: true });
  expect(restored.plan.map(({ action }) => action).every((action) => ['create', 'chmod'].includes(action))).toBe(true);

  await expectSameContent(workspace, specs, snapshot);
});

/** An unchanged tree: no second snapshot where none is wanted, no plan, no touch. */
async function expectNothingToDo(workspace: Workspace, snapshot: { seq: number }, before: string): Promise<void> {
  const again = await workspace.save({ ifChanged: true });
  expect(again).toMatchObject({ created: false, snapshot: { seq: snapshot.seq } });
  const restored = await workspace.restore(snapshot);
  expect(restored).toMatchObject({ plan: [], changed: [], kept: [], failed: [], emergencySnapshot: null });
  expect(workspace.fingerprint()).toBe(before);
}

/** The same tree under other inodes and times is the same content, whether the stat cache is asked or not. */
async function expectSameContent(
  workspace: Workspace,
  specs: readonly TreeSpec[],
  first: { commit: string },
): Promise<void> {
  const second = await workspace.save({ full: specs.length % 2 === 0 });
  expect(workspace.contentIds(second.snapshot.commit)).toBe(workspace.contentIds(first.commit));
}

function differences(wanted: Trees, found: Trees): string[] {
  return [...wanted].flatMap(([name, entries]) =>
    compareTrees(entries, found.get(name) ?? []).map((line) => `${name}: ${line}`),
  );
}
