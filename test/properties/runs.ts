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
 * Tests the property over generated trees, batch by batch, and the store that each batch leaves. A failure tells the
 * tree, made smaller for a minute, and how to see the same again. A property that takes long sees a `share` of them.
 */
export function overGeneratedTrees(name: string, options: ArbitraryTreeOptions, property: Property, share = 1): void {
  const batches = Math.max(1, Math.ceil((share * treesPerProperty) / (treesPerRun * runsPerBatch)));
  const seen = { trees: 0, entries: 0 };

  afterAll(() => {
    process.stdout.write(`${name}: ${seen.trees} generated trees with ${seen.entries} entries\n`);
  });

  test.each(Array.from({ length: batches }, (_, batch) => batch))(`${name}, batch %i`, async (batch) => {
    const seed = testSeed();
    const again = `JACKIN_TEST_SEED=${seed} npx vitest run test/properties -t 'batch ${batch}'`;
    const workspace = new Workspace(treesPerRun, batch === 0 ? 'disk' : 'memory');
    try {
      for (const { specs, damageSeed } of forests(options, seed + batch)) {
        const tried: Attempt = (trees) => property(workspace, trees, damageSeed);
        await tried(specs).catch((error: unknown) => explain(error, specs, tried, again));
        seen.trees += specs.length;
        seen.entries += specs.reduce((sum, spec) => sum + spec.length, 0);
      }
      await workspace.expectSoundStore();
    } finally {
      workspace.remove();
    }
  });
}

function forests(options: ArbitraryTreeOptions, seed: number): { specs: TreeSpec[]; damageSeed: number }[] {
  const trees = fc.array(arbitraryTree(options), { minLength: treesPerRun, maxLength: treesPerRun });
  return fc.sample(fc.record({ specs: trees, damageSeed: fc.nat() }), { seed, numRuns: runsPerBatch });
}

type Attempt = (specs: readonly TreeSpec[]) => Promise<void>;

/** Fails with what is left of the trees when everything is taken away that the failure does not need. */
async function explain(first: unknown, specs: readonly TreeSpec[], attempt: Attempt, again: string): Promise<never> {
  const until = performance.now() + shrinkAtMost;
  let error = first;
  const stillFails = async (smaller: readonly TreeSpec[]): Promise<boolean> => {
    if (performance.now() > until) return false;
    try {
      await attempt(smaller);
      return false;
    } catch (failure) {
      if (nameOf(failure) !== nameOf(first)) return false;
      error = failure;
      return true;
    }
  };
  const left = await withoutNeedlessEntries(await withoutNeedlessTrees(specs, stillFails), stillFails);
  const shown = left.map((spec, index) => (spec.length === 0 ? '' : `tree ${index}:\n${describe(spec)}`)).join('');
  throw new Error(`It does not hold for\n${shown}Again: ${again}`, { cause: error });
}

type Check = (specs: readonly TreeSpec[]) => Promise<boolean>;

// What is done to a tree depends on its place: the others stay, as empty ones.
async function withoutNeedlessTrees(specs: readonly TreeSpec[], stillFails: Check): Promise<readonly TreeSpec[]> {
  for (const index of specs.keys()) {
    const alone = specs.map((spec, at) => (at === index ? spec : []));
    if (await stillFails(alone)) return alone;
  }
  return specs;
}

async function withoutNeedlessEntries(specs: readonly TreeSpec[], stillFails: Check): Promise<readonly TreeSpec[]> {
  let left = specs;
  for (let size = Math.max(...specs.map(({ length }) => length)); size >= 1; size = Math.floor(size / 2)) {
    for (const index of left.keys()) {
      for (let at = 0; at < left[index]!.length;) {
        const smaller = left.map((spec, place) => (place === index ? spec.toSpliced(at, size) : spec));
        if (await stillFails(smaller)) left = smaller;
        else at += size;
      }
    }
  }
  return left;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function describe(spec: TreeSpec): string {
  return spec.map((entry) => `  ${JSON.stringify(entry, (_, value: unknown) => shortened(value))}\n`).join('');
}

function shortened(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const escaped = escapeName(value);
  return escaped.length < 100 ? escaped : `${escaped.slice(0, 80)}... (${value.length} bytes)`;
}
