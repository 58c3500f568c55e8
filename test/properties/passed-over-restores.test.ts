import { expect } from 'vitest';
import type { RestoreResult } from '../../src/index.js';
import type { DamageAction } from '../support/damage-actions.js';
import { damageActions } from '../support/damage-actions.js';
import { damage } from '../support/damage.js';
import { overGeneratedTrees } from './runs.js';
import type { Workspace } from './workspace.js';

// A restore passes over what is recorded to be as in the snapshot. It must never be told from one that reads everything.

const actions = Object.keys(damageActions) as DamageAction[];
const nothing: ReadonlyMap<string, Buffer> = new Map();

overGeneratedTrees(
  'a restore that passes over what is as in the snapshot does what a restore that looks at everything does',
  { withSpecial: true, withGitDirs: true, withRules: true },
  async (workspace, specs, seed) => {
    await workspace.fill(specs);
    const { snapshot } = await workspace.save();
    await settle();
    await workspace.save();
    if (seed % 2 === 0) {
      // What is recorded is another state than that of the snapshot.
      damageSome(workspace, seed);
      await settle();
      await workspace.save();
      await settle();
      await workspace.save();
    }
    damageSome(workspace, seed + 1);
    const request = { noDelete: seed % 5 === 0 };
    const records = workspace.records();
    const foretold = await workspace.restore(snapshot, { ...request, dryRun: true });
    workspace.setRecords(nothing);
    const looked = await workspace.restore(snapshot, { ...request, dryRun: true });
    expect(told(foretold)).toEqual(told(looked));

    workspace.setRecords(records);
    const first = await workspace.restore(snapshot, request);
    expect(told(first).plan).toEqual(looked.plan);
    await expectNextSaveComplete(workspace);
    if (first.emergencySnapshot === null) return;
    await workspace.undo();
    workspace.setRecords(nothing);
    const second = await workspace.restore(snapshot, request);
    expect(workspace.contentIds(second.emergencySnapshot!.ref)).toBe(workspace.contentIds(first.emergencySnapshot.ref));
  },
  0.25,
);

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

/** Two mounts in three, each in one place. */
function damageSome(workspace: Workspace, seed: number): void {
  for (const [index, { path }] of workspace.mounts.entries())
    if ((seed + index) % 3 !== 0) damage(path, seed + index, { rounds: 1 + (seed % 4), actions });
}

function told({ plan, kept, failed, messages }: RestoreResult): Pick<RestoreResult, 'plan' | 'kept' | 'failed'> & {
  readonly messages: readonly string[];
} {
  return { plan, kept, failed, messages };
}

/** What the restore recorded lets the next save take over no more than is so. */
async function expectNextSaveComplete(workspace: Workspace): Promise<void> {
  await settle();
  const records = workspace.records();
  const saved = await workspace.save();
  const full = await workspace.save({ full: true });
  expect(workspace.contentIds(saved.snapshot.commit)).toBe(workspace.contentIds(full.snapshot.commit));
  workspace.setRecords(records);
}
