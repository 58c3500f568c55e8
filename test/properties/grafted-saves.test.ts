import { expect } from 'vitest';
import type { SaveResult } from '../../src/index.js';
import type { DamageAction } from '../support/damage-actions.js';
import { damageActions } from '../support/damage-actions.js';
import { damage } from '../support/damage.js';
import { overGeneratedTrees } from './runs.js';
import type { Workspace } from './workspace.js';

// A save takes over from the last one what has not changed since. It must never be told from one that reads everything.

const actions = Object.keys(damageActions) as DamageAction[];

overGeneratedTrees(
  'a save that takes over what is unchanged stores what a save of everything does',
  { withSpecial: true, withGitDirs: true, withRules: true },
  async (workspace, specs, seed) => {
    await workspace.fill(specs);
    await workspace.save();
    await settle();
    await expectAsInFull(workspace);
    await expectAsInFull(workspace);
    // One record follows from the other: what one of them lacks shows in a later save.
    for (let round = 0; round < 3; round++) {
      for (const [index, { path }] of workspace.mounts.entries())
        if ((seed + index + round) % 3 !== 0) damage(path, seed + index + round, { rounds: 1, actions });
      await expectAsInFull(workspace);
      await settle();
      await expectAsInFull(workspace);
    }
  },
  0.25,
);

/** Times that are so fresh that they prove nothing keep a directory from being taken over. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

/** The save of everything comes second, and leaves no record: the next one starts from what the first has left. */
async function expectAsInFull(workspace: Workspace): Promise<void> {
  const first = await workspace.save();
  const records = workspace.records();
  const full = await workspace.save({ full: true });
  workspace.setRecords(records);
  expect(told(first)).toEqual(told(full));
  expect(workspace.contentIds(first.snapshot.commit)).toBe(workspace.contentIds(full.snapshot.commit));
}

function told({ mounts, observedOnly, complete, messages, stats }: SaveResult): unknown {
  const { filesObserved, filesStored, bytesStored } = stats;
  const ofContent = messages.filter((message) => !message.startsWith('Retention'));
  return { mounts, observedOnly, complete, ofContent, filesObserved, filesStored, bytesStored };
}
