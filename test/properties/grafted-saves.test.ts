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
    for (const rounds of [2]) {
      for (const [index, { path }] of workspace.mounts.entries())
        if ((seed + index) % 3 !== 0) damage(path, seed + index + rounds, { rounds, actions });
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

/** The save of everything comes second and leaves the record that the next one starts from; the first is looked at. */
async function expectAsInFull(workspace: Workspace): Promise<void> {
  const first = await workspace.save();
  const full = await workspace.save({ full: true });
  expect(told(first)).toEqual(told(full));
  expect(workspace.contentIds(first.snapshot.commit)).toBe(workspace.contentIds(full.snapshot.commit));
}

function told({ mounts, observedOnly, complete, messages, stats }: SaveResult): unknown {
  const { filesObserved, filesStored, bytesStored } = stats;
  const ofContent = messages.filter((message) => !message.startsWith('Retention'));
  return { mounts, observedOnly, complete, ofContent, filesObserved, filesStored, bytesStored };
}
