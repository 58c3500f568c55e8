import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Tier } from './equipment/fault-test.js';
import { tiers } from './equipment/fault-test.js';
import { beLane, runInLanes } from './equipment/lanes.js';
import { runSuite } from './equipment/run-suite.js';
import { suite } from './list.js';

// `npm run faults -- [--tier short|nightly|soak] [--only NAME] [--seed N] [--count N] [--minutes N] [--point NAME]`

const { values } = parseArgs({
  options: {
    tier: { type: 'string', default: 'short' },
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    count: { type: 'string' },
    minutes: { type: 'string' },
    point: { type: 'string' },
    // Of the suite to itself: what to do comes as a message.
    lane: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => process.exit(code));

if (values.lane) await beLane(suite, say);
else process.exitCode = await runChosen();

async function runChosen(): Promise<number> {
  const chosen = suite.filter(({ name }) => values.only === undefined || values.only.includes(name));
  if (chosen.length === 0) throw new Error(`--only takes one of: ${suite.map(({ name }) => name).join(', ')}.`);
  if (!isTier(values.tier)) throw new Error(`--tier takes one of: ${tiers.join(', ')}.`);
  return runSuite(chosen, {
    tier: values.tier,
    seed: whole('seed', values.seed) ?? randomInt(0x7fffffff),
    count: whole('count', values.count),
    minutes: whole('minutes', values.minutes),
    point: values.point,
    say,
    inLanes: runInLanes,
  });
}

function isTier(text: string): text is Tier {
  return (tiers as readonly string[]).includes(text);
}

function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}
