import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import type { ArbitraryTreeOptions } from '../support/arbitrary-tree.js';
import { arbitraryTree } from '../support/arbitrary-tree.js';
import { escapeName } from '../support/bytes.js';
import { testSeed } from '../support/seed.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { Workspace } from './workspace.js';

/** What must hold for trees of any kind. `seed` drives whatever it does at random. */
export type Property = (workspace: Workspace, specs: readonly TreeSpec[], seed: number) => Promise<void>;

// The trees of one run are the mounts of one instance; those of one batch share a data directory.
const treesPerRun = 10;
const runsPerBatch = 25;

/** How many trees each property sees; the long run asks for more. */
const treesPerProperty = Number(process.env['JACKIN_TEST_TREES'] ?? 1000);

const shrinkAtMost = 60_000;

/**
 * Tests the property over generated trees, batch by batch, and the store that each batch leaves. A failure shrinks for a
 * minute, and says with which JACKIN_TEST_SEED it comes again.
 */
export function overGeneratedTrees(name: string, options: ArbitraryTreeOptions, property: Property): void {
  const batches = Math.max(1, Math.ceil(treesPerProperty / (treesPerRun * runsPerBatch)));
  const seen = { trees: 0, entries: 0 };

  afterAll(() => {
    process.stdout.write(`${name}: ${seen.trees} generated trees with ${seen.entries} entries\n`);
  });

  test.each(Array.from({ length: batches }, (_, batch) => batch))(`${name}, batch %i`, async (batch) => {
    const seed = testSeed() + batch;
    const workspace = new Workspace(treesPerRun);
    try {
      const again = `JACKIN_TEST_SEED=${seed - batch} npx vitest run test/properties -t 'batch ${batch}'`;
      await overForests(options, { seed, again }, withFastShrinking(workspace, property), (specs) => {
        seen.trees += specs.length;
        seen.entries += specs.reduce((sum, spec) => sum + spec.length, 0);
      });
      await workspace.expectSoundStore();
    } finally {
      workspace.remove();
    }
  });
}

type Attempt = (specs: readonly TreeSpec[], seed: number) => Promise<void>;

async function overForests(
  options: ArbitraryTreeOptions,
  { seed, again }: { readonly seed: number; readonly again: string },
  attempt: Attempt,
  count: (specs: readonly TreeSpec[]) => void,
): Promise<void> {
  const forest = fc.array(arbitraryTree(options), { minLength: treesPerRun, maxLength: treesPerRun });
  const checked = fc.asyncProperty(forest, fc.nat(), async (specs, damageSeed) => {
    await attempt(specs, damageSeed);
    count(specs);
  });
  const { failed, counterexample, errorInstance, numShrinks } = await fc.check(checked, {
    seed,
    numRuns: runsPerBatch,
  });
  if (!failed) return;
  const [specs, damageSeed] = counterexample ?? [[], 0];
  const shown = `Again: ${again}\nShrunk ${numShrinks} times, damaged with seed ${damageSeed}:\n${specs.map(describe).join('\n')}`;
  throw new Error(`${errorInstance instanceof Error ? errorInstance.message : ''}\n${shown}`, { cause: errorInstance });
}

// One failing tree of the forest is enough to go on with, and a smaller one is worth a minute, not the rest of the day.
function withFastShrinking(workspace: Workspace, property: Property): Attempt {
  let failing: { readonly since: number; readonly alone: number | undefined } | undefined;
  const holds = async (specs: readonly TreeSpec[], seed: number): Promise<boolean> =>
    property(workspace, specs, seed).then(
      () => true,
      () => false,
    );
  return async (specs, seed) => {
    if (failing !== undefined) {
      if (performance.now() - failing.since > shrinkAtMost) return;
      return property(workspace, failing.alone === undefined ? specs : [specs[failing.alone] ?? []], seed);
    }
    try {
      await property(workspace, specs, seed);
    } catch (error) {
      let alone: number | undefined;
      for (let index = 0; index < specs.length && alone === undefined; index += 1)
        if (!(await holds([specs[index]!], seed))) alone = index;
      failing = { since: performance.now(), alone };
      throw error;
    }
  };
}

function describe(spec: TreeSpec): string {
  return spec.map((entry) => `  ${JSON.stringify(entry, (_, value: unknown) => shortened(value))}\n`).join('');
}

function shortened(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const escaped = escapeName(value);
  return escaped.length < 100 ? escaped : `${escaped.slice(0, 80)}... (${value.length} bytes)`;
}
