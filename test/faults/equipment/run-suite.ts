import type { FaultTest, Order, Tier } from './fault-test.js';
import { Tally } from './fault-test.js';

export interface SuiteRequest {
  readonly tier: Tier;
  readonly seed: number;
  readonly count: number | undefined;
  /** At most so long, for each test. */
  readonly minutes: number | undefined;
  readonly point: string | undefined;
  readonly say: (line: string) => void;
  /** Does a test's points in several processes; without it they are done in this one. */
  readonly inLanes?: (test: FaultTest, order: Order, tally: Tally) => Promise<void>;
}

interface Row {
  readonly test: string;
  readonly asked: number;
  readonly outcome: Tally | string;
  readonly seconds: number;
}

/** Runs the tests one after the other, prints the table, and answers the exit code. */
export async function runSuite(tests: readonly FaultTest[], request: SuiteRequest): Promise<number> {
  const rows: Row[] = [];
  for (const test of tests) {
    request.say(`${test.name}: ${test.about} (seed ${request.seed})`);
    rows.push(await runOne(test, request));
  }
  for (const line of table(rows, request)) request.say(line);
  const broken = rows.some(({ outcome }) => outcome instanceof Tally && outcome.violations.length > 0);
  return broken ? 1 : 0;
}

/** What came of one test; text where it was left out, with the reason. */
export async function runOne(test: FaultTest, request: SuiteRequest): Promise<Row> {
  const { tier, seed, count, minutes, point, say } = request;
  const asked = point === undefined ? (count ?? test.counts[tier]) : 1;
  const lacks = test.lacks();
  if (lacks !== undefined) return { test: test.name, asked, outcome: lacks, seconds: 0 };
  const tally = new Tally(say);
  const start = performance.now();
  const until = start + (minutes ?? Infinity) * 60_000;
  const order: Order = { count: asked, seed, until, abreast: 2, ...(point === undefined ? {} : { point }) };
  const run = test.inLanes === true && point === undefined ? (request.inLanes ?? inThisProcess) : inThisProcess;
  await run(test, order, tally);
  return { test: test.name, asked, outcome: tally, seconds: Math.round((performance.now() - start) / 1000) };
}

function inThisProcess(test: FaultTest, order: Order, tally: Tally): Promise<void> {
  return test.run(order, tally);
}

function table(rows: readonly Row[], { tier, seed }: SuiteRequest): string[] {
  const head = ['test', 'tier', 'asked', 'done', 'violations', 'seconds', 'seed'];
  const lines = rows.map(({ test, asked, outcome, seconds }) =>
    outcome instanceof Tally
      ? [test, tier, asked, outcome.done, outcome.violations.length, seconds, seed]
      : [test, tier, asked, 'left out', outcome, '', ''],
  );
  const cells = [head, ...lines].map((line) => line.map(String));
  const widths = head.map((_, at) =>
    Math.max(...cells.filter((line) => line[3] !== 'left out').map((line) => line[at]!.length)),
  );
  const notes = rows.flatMap(({ test, outcome }) =>
    outcome instanceof Tally ? [...outcome.notes].map(([text, times]) => `note  ${test}: ${text} (${times})`) : [],
  );
  const violations = rows.flatMap(({ test, outcome }) =>
    outcome instanceof Tally ? outcome.violations.map((text) => `VIOLATION  ${test} (seed ${seed}): ${text}`) : [],
  );
  const shown = cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return ['', ...notes, ...violations, '', ...shown];
}
