import { describe, expect, test } from 'vitest';
import { testSeed } from '../support/seed.js';
import { Tally } from './equipment/fault-test.js';
import { runOne } from './equipment/run-suite.js';
import { suite } from './list.js';

// The short tier of `npm run faults`, which runs the same for hours.

describe('the fault-injection suite', () => {
  for (const one of suite) {
    test.skipIf(one.lacks() !== undefined)(`${one.name}: nothing is lost when ${one.about}`, async () => {
      const seed = testSeed();
      const request = { tier: 'short', seed, count: undefined, minutes: undefined, point: undefined } as const;
      const { asked, outcome } = await runOne(one, { ...request, say: () => undefined });
      expect(outcome).toBeInstanceOf(Tally);
      const { done, violations } = outcome as Tally;
      expect(violations, `with --only '${one.name}' --seed ${seed}`).toEqual([]);
      expect(done).toBeGreaterThan(asked / 2);
    });
  }
});
