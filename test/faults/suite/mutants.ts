import { randomFrom } from '../../support/random.js';
import { shuffled } from '../equipment/sample.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast } from '../equipment/fault-test.js';
import { MutatedTree, type Verdict } from '../equipment/mutated-tree.js';
import { mutants as all } from '../mutants/all.js';
import type { Mutant } from '../mutants/mutant.js';

/** The safety code itself is broken, a line at a time: a sync dropped, two steps swapped, a check skipped. */
export const mutants: FaultTest = {
  name: 'mutants',
  about: 'a line of the code that keeps it safe is broken: its tests must fail',
  counts: { short: 3, nightly: all.length, soak: all.length },
  lacks: () => undefined,
  run: async (order, tally) => {
    const free = Array.from({ length: order.abreast }, () => new MutatedTree());
    const trees = [...free];
    const sound = new Map<string, Promise<Verdict>>();
    try {
      await abreast(chosen(order), order, async (mutant) => {
        const tree = free.pop()!;
        await check(tree, mutant, sound, tally);
        free.push(tree);
      });
    } finally {
      for (const tree of trees) tree.remove();
    }
  },
};

function chosen({ count, seed, point }: Order): readonly Mutant[] {
  if (point !== undefined) return all.filter(({ name }) => name === point);
  return shuffled(all, randomFrom(seed)).slice(0, count);
}

async function check(
  tree: MutatedTree,
  mutant: Mutant,
  sound: Map<string, Promise<Verdict>>,
  tally: Tally,
): Promise<void> {
  const { failed, broken } = await tree.run(mutant.tests, mutant);
  if (failed === undefined) {
    tally.add(mutant.name, [broken ?? `survives ${mutant.tests.join(' ')}`]);
    return;
  }
  // What fails anyway has found nothing.
  const key = mutant.tests.join(' ');
  const before = sound.get(key) ?? tree.run(mutant.tests, null);
  sound.set(key, before);
  const unbroken = await before;
  const anyway = unbroken.failed ?? unbroken.broken;
  tally.add(mutant.name, anyway === undefined ? [] : [`without it ${key} fails too: ${anyway}`]);
  tally.say(`caught: ${mutant.name}, by ${failed}`);
}
