import { randomInt } from 'node:crypto';
import { onTestFailed } from 'vitest';

/**
 * The seed of the running test: that of JACKIN_TEST_SEED, else a fresh one. When the test fails, it prints how to see
 * the same again.
 */
export function testSeed(): number {
  const given = process.env['JACKIN_TEST_SEED'];
  const seed = given === undefined || given === '' ? randomInt(0x7fffffff) : parseSeed(given);
  onTestFailed(() => {
    process.stderr.write(`\nThis test ran with seed ${seed}. The same again: JACKIN_TEST_SEED=${seed}\n`);
  });
  return seed;
}

function parseSeed(given: string): number {
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new Error(`JACKIN_TEST_SEED is not a whole number: ${JSON.stringify(given)}.`);
  return seed;
}
