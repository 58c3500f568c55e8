import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { storeGit } from '../../support/store-git.js';
import type { Area } from './area.js';
import type { Trees } from './trees.js';
import { manyFiles, treesOf } from './trees.js';

export type Moment = 'then' | 'now';

/** A command, and the state in which it is given. */
export interface Scenario {
  readonly name: string;
  readonly args: readonly string[];
  /** Leaves the data directory as it is before the command, and the mount in any state. */
  readonly prepare: (area: Area, trees: Trees) => Promise<void>;
  /** What the mount holds when the command is given. */
  readonly starts: Moment;
  /** What it holds when the command is done; for what changes no mount the same. */
  readonly ends: Moment;
  readonly kind: 'save' | 'restore' | 'removal';
  /** A restore that is killed half-way, before the command is given. */
  readonly halfway?: readonly string[];
  /** Numbers of snapshots that the command may remove. */
  readonly mayGo: readonly number[];
  /** Each further save may remove one more, from the newest on that there was before the command. */
  readonly moreMayGo?: true;
  readonly trees: (variant: number) => Trees;
}

const common = { starts: 'now', ends: 'now', mayGo: [], trees: treesOf } as const;
const restores = { ...common, kind: 'restore', ends: 'then' } as const;

export const scenarios: readonly Scenario[] = [
  { ...common, name: 'first save', kind: 'save', args: ['save'], prepare: nothing },
  { ...common, name: 'save of changes', kind: 'save', args: ['save'], prepare: savedThen },
  {
    ...common,
    name: 'save of no change',
    kind: 'save',
    args: ['save'],
    prepare: savedBoth,
  },
  {
    ...common,
    name: 'save that prunes',
    kind: 'save',
    args: ['save'],
    mayGo: [2, 3, 4],
    moreMayGo: true,
    prepare: savedOften('keep_last=2'),
  },
  { ...restores, name: 'restore', args: ['restore', '1', '--yes'], prepare: savedThen },
  { ...restores, name: 'restore of many', args: ['restore', '1', '--yes'], prepare: savedThen, trees: manyFiles },
  {
    ...restores,
    name: 'undo',
    args: ['undo', '--yes'],
    starts: 'then',
    ends: 'now',
    prepare: restoredThen,
  },
  {
    ...restores,
    name: 'recover --continue',
    args: ['recover', '--continue', '--yes'],
    prepare: savedThen,
    halfway: ['restore', '1', '--yes'],
  },
  {
    ...restores,
    name: 'recover --abort',
    args: ['recover', '--abort', '--yes'],
    ends: 'now',
    prepare: savedThen,
    halfway: ['restore', '1', '--yes'],
  },
  {
    ...common,
    name: 'prune',
    kind: 'removal',
    args: ['prune', '--yes'],
    mayGo: [2, 3],
    prepare: savedOften('keep_last=2', 'auto_prune=false'),
  },
  {
    ...common,
    name: 'delete',
    kind: 'removal',
    args: ['delete', '2', '--yes'],
    mayGo: [2],
    prepare: savedOften(),
  },
  { ...common, name: 'gc', kind: 'removal', args: ['gc'], prepare: savedOften() },
  { ...common, name: 'gc --auto', kind: 'removal', args: ['gc', '--auto'], prepare: manyPacks },
];

function nothing(): Promise<void> {
  return Promise.resolve();
}

async function savedThen(area: Area, trees: Trees): Promise<void> {
  await area.fill(trees.then);
  await area.must(['save']);
  await area.fill(trees.now);
}

async function savedBoth(area: Area, trees: Trees): Promise<void> {
  await savedThen(area, trees);
  await area.must(['save']);
}

async function restoredThen(area: Area, trees: Trees): Promise<void> {
  await savedThen(area, trees);
  await area.must(['restore', '1', '--yes']);
}

/** Five snapshots. */
function savedOften(...settings: readonly string[]): Scenario['prepare'] {
  return async (area, trees) => {
    for (const tree of [trees.then, trees.now, trees.then, trees.then.slice(1), trees.now]) {
      await area.fill(tree);
      await area.must(['save']);
    }
    if (settings.length > 0) await area.must(['instance', 'set', ...settings]);
  };
}

/** As many packs as housekeeping waits for. */
async function manyPacks(area: Area, trees: Trees): Promise<void> {
  await savedOften()(area, trees);
  const packs = join(area.store, 'objects/pack/pack');
  for (let n = 0; n < 46; n += 1) {
    const { stdout } = storeGit(area.dataDir, ['hash-object', '-w', '--stdin'], { stdin: randomBytes(40) });
    storeGit(area.dataDir, ['pack-objects', '-q', packs], { stdin: stdout });
  }
  storeGit(area.dataDir, ['prune-packed', '-q']);
  spawnSync('find', [join(area.store, 'objects'), '-type', 'd', '-empty', '-delete']);
  spawnSync('mkdir', ['-p', '-m', '700', join(area.store, 'objects/info')]);
}
