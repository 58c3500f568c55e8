import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { EntryPath, Explanation, MountName, SaveResult } from '../../src/index.js';
import { escapeName } from '../support/bytes.js';
import { type DamageAction, damageActions } from '../support/damage-actions.js';
import { damage } from '../support/damage.js';
import { overGeneratedTrees } from './runs.js';
import type { Workspace } from './workspace.js';

// What `explain` says of a path and what a save does with it are never two things, whatever presets and rules there are;
// and a save that takes over what is unchanged stores what a save of everything does, also when presets come, change, go.

const actions = Object.keys(damageActions) as DamageAction[];

const presets: readonly (readonly [detect: readonly unknown[], patterns: readonly string[]])[] = [
  [['a'], ['b', 'c/']],
  [
    ['.gitignore', '*.b'],
    ['a.*', '/A/**/b'],
  ],
  [[['a', 'b']], ['*b*']],
];

overGeneratedTrees(
  'explain says what a save does, with presets that come, change and go',
  { withSpecial: true, withGitDirs: true, withRules: true },
  async (workspace, specs, seed) => {
    rmSync(join(workspace.dataDir, 'stacks'), { recursive: true, force: true });
    await workspace.fill(specs);
    await workspace.save();
    for (let round = 0; round < 3; round++) {
      change(workspace, seed + round);
      for (const [index, { path }] of workspace.mounts.entries())
        if ((seed + index + round) % 4 === 0) damage(path, seed + index + round, { rounds: 1, actions });
      await settle();
      const first = await workspace.save();
      await expectExplained(workspace, first);
      await expectAsInFull(workspace, first);
    }
  },
  0.1,
);

function change({ dataDir }: Workspace, seed: number): void {
  const folder = join(dataDir, 'stacks');
  mkdirSync(folder, { recursive: true });
  const [detect, patterns] = presets[seed % presets.length]!;
  const file = join(folder, `own-${seed % 2}.toml`);
  if (seed % 5 === 0) rmSync(file, { force: true });
  else writeFileSync(file, `detect = ${JSON.stringify(detect)}\npatterns = ${JSON.stringify(patterns)}\n`);
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

async function expectAsInFull(workspace: Workspace, first: SaveResult): Promise<void> {
  const records = workspace.records();
  const full = await workspace.save({ full: true });
  workspace.setRecords(records);
  expect(first.observedOnly).toEqual(full.observedOnly);
  expect(workspace.contentIds(first.snapshot.commit)).toBe(workspace.contentIds(full.snapshot.commit));
}

async function expectExplained(workspace: Workspace, saved: SaveResult): Promise<void> {
  const observed = new Map(saved.observedOnly.map(({ mount, path, reason }) => [`${mount}:${path}`, reason]));
  const stored = new Set(
    (await workspace.snap.tree(String(saved.snapshot.seq))).map(({ mount, path }) => `${mount}:${path}`),
  );
  const all = [...workspace.walk()].flatMap(([mount, entries]) =>
    entries.flatMap(({ path }) => (path === '' ? [] : [{ mount: mount as MountName, path: path as EntryPath }])),
  );
  const { explanations } = await workspace.snap.explain({ paths: all });
  for (const { mount, path, outcome, reason } of explanations) {
    const at = `${mount}:${path}`;
    const said = outcome === 'observed_only' ? reason : outcome;
    const done = observed.get(at) ?? (stored.has(at) ? 'stored' : 'left_out');
    if (said !== done) throw new Error(`${escapeName(at)}: explained as ${String(said)}, and a save makes it ${done}`);
  }
  expect(explanations).toHaveLength(all.length);
  expectRules(explanations);
}

/** A rule that is written somewhere is shown as it is written there. */
function expectRules(explanations: readonly Explanation[]): void {
  for (const { rule, outcome } of explanations) {
    if (rule.kind === 'stack')
      expect(rule).toMatchObject({ preset: expect.any(String) as string, pattern: expect.any(String) as string });
    if (rule.kind === 'ignore_file')
      expect(rule).toMatchObject({ line: expect.any(Number) as number, pattern: expect.any(String) as string });
    if (outcome !== 'stored') expect(rule.kind).not.toBe('none');
  }
}
