import { mkdirSync } from 'node:fs';
import { emptyFolder, expectSame, expectSameTree, moveContent, remove } from '../disk.js';
import type { Input, Recipe } from '../inputs/recipe.js';
import type { RowName } from '../settings.js';
import type { Session } from '../session.js';
import type { Tool } from '../tools/tool.js';
import type { Scene } from './scene.js';
import {
  changeTen,
  expectContents,
  measuredAlone,
  noteRun,
  noteSave,
  openStores,
  removeStores,
  storesOf,
} from './scene.js';
import { startOfNode } from './start-rows.js';

/** What a restore of ten files is held against. */
export const unchangedSave = 'save, nothing changed';

/** How one input is measured. */
export interface TreePlan {
  readonly rows: readonly RowName[];
  /** How often the first save and the full restore are measured. */
  readonly slowRuns: number;
  readonly quickRuns: number;
  readonly peers: readonly Tool[];
  readonly saveOptions?: readonly string[];
}

/** All rows, with all peers. */
export function fullPlan(session: Session): TreePlan {
  const rows = ['first-save', 'nothing-changed', 'ten-changed', 'restore-ten', 'full-restore'] as const;
  return { rows, slowRuns: 3, quickRuns: 5, peers: session.peers.tools };
}

/** Saves and restores one input with every tool, in turns: each round does all tools, so that all see the same machine. */
export async function measureTree(session: Session, recipe: Recipe, plan: TreePlan): Promise<void> {
  const wanted = (row: RowName): boolean => plan.rows.includes(row) && session.wants(row);
  if (!plan.rows.some(wanted)) return;
  const input = session.make(recipe);
  await session.untilTrusted();
  const scene = await firstSaves(session, input, plan, wanted('first-save'));
  await expectAllStored(scene);
  if (wanted('nothing-changed') || wanted('ten-changed')) {
    await laterSaves(scene, session.runs(plan.quickRuns), wanted('ten-changed'));
  }
  if (wanted('restore-ten')) await restoresOfTen(scene, session.runs(plan.quickRuns));
  if (wanted('full-restore')) await fullRestores(scene, session.runs(plan.slowRuns));
  removeStores(scene);
  remove(input.folder);
}

async function firstSaves(session: Session, input: Input, plan: TreePlan, isRow: boolean): Promise<Scene> {
  for (let left = isRow ? session.runs(plan.slowRuns) : 1; ; left--) {
    const stores = await openStores(session, input.folder, plan.peers, plan.saveOptions);
    const scene = { session, input, ...stores };
    for (const opened of storesOf(scene)) {
      if (isRow) await noteSave(scene, 'first-save', opened);
      else await opened.store.save();
    }
    if (left <= 1) return scene;
    removeStores(scene);
  }
}

async function expectAllStored({ ours, input }: Scene): Promise<void> {
  const [snapshot] = await ours.snapshots(1);
  expectSame(`files stored of ${input.name}`, input.files, snapshot?.files);
}

// The second save is the first that knows the files to be unchanged for long enough; the third is measured.
async function laterSaves(scene: Scene, rounds: number, withChanges: boolean): Promise<void> {
  const { session, input } = scene;
  for (const { store } of storesOf(scene)) await store.save();
  for (let round = 0; round < rounds; round++) {
    for (const opened of storesOf(scene)) await noteSave(scene, 'nothing-changed', opened);
    noteRun(session, 'nothing-changed', input.name, 'node -e 0', await startOfNode(session));
    if (!withChanges) continue;
    changeTen(input, round);
    await session.untilTrusted();
    for (const opened of storesOf(scene)) await noteSave(scene, 'ten-changed', opened);
  }
}

// A save in which nothing changed is measured beside each of them: it is what they are held against.
async function restoresOfTen(scene: Scene, rounds: number): Promise<void> {
  const { session, input, ours } = scene;
  for (let round = 0; round < rounds; round++) {
    await ours.save();
    const unchanged = await measuredAlone(ours.save);
    noteRun(session, 'restore-ten', input.name, unchangedSave, unchanged);
    const saved = await ours.newest();
    const before = changeTen(input, 1000 + round);
    await session.untilTrusted();
    noteRun(session, 'restore-ten', input.name, 'jackin-snap', await measuredAlone(() => ours.restore(saved)));
    expectContents(before);
    await session.untilTrusted();
  }
}

// What was saved is moved aside, and is what the outcome is held against.
async function fullRestores(scene: Scene, rounds: number): Promise<void> {
  const { session, input, ours, peers } = scene;
  for (const { store } of storesOf(scene)) await store.save();
  const seq = await ours.newest();
  const aside = session.place('aside');
  moveContent(input.folder, aside);
  for (let round = 0; round < rounds; round++) {
    const restored = await measuredAlone(() => ours.restore(seq));
    noteRun(session, 'full-restore', input.name, 'jackin-snap', restored);
    expectSameTree(aside, input.folder);
    emptyFolder(input.folder);
    for (const { tool, store } of peers) {
      if (store.restoreInto === undefined) continue;
      const target = session.place('restored');
      mkdirSync(target);
      const measured = await measuredAlone(() => store.restoreInto!(target));
      noteRun(session, 'full-restore', input.name, tool, measured);
      expectSameTree(aside, target);
      remove(target);
    }
  }
  moveContent(aside, input.folder);
  remove(aside);
}
