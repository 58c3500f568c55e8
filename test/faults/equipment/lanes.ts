import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import type { FaultTest, Order } from './fault-test.js';
import { Tally } from './fault-test.js';

/** What a lane is told. Times are those that are left: no clock is shared. */
interface LaneOrder {
  readonly test: string;
  readonly order: Omit<Order, 'until'>;
  readonly milliseconds: number | undefined;
}

/** What a lane answers: all it has done so far. */
interface LaneReport {
  readonly done: number;
  readonly violations: readonly string[];
  readonly notes: readonly (readonly [string, number])[];
  readonly isEnd: boolean;
}

/** Nobody waits longer for what a lane has found, should it be killed. */
const reportEvery = 2000;

/**
 * Little room for what is young: starting a process costs by what the starting one holds (11 ms with 200 MB, 1.3 ms with
 * 40), and these start a hundred for each point.
 */
const laneFlags = ['--enable-source-maps', '--max-semi-space-size=1'];

/** Does the points of a test in processes of their own, each as many as the other. */
export async function runInLanes(test: FaultTest, order: Order, tally: Tally): Promise<void> {
  const lanes = Array.from({ length: order.abreast }, (_, index) => startLane(test, order, index));
  const stop = (): void => lanes.forEach(({ child }) => child.kill('SIGKILL'));
  process.on('exit', stop);
  const reports = await Promise.all(lanes.map(({ report }) => report));
  process.off('exit', stop);
  for (const { done, violations, notes } of reports) {
    tally.done += done;
    tally.violations.push(...violations);
    for (const [text, times] of notes) tally.notes.set(text, (tally.notes.get(text) ?? 0) + times);
  }
}

function startLane(test: FaultTest, order: Order, index: number): { child: ChildProcess; report: Promise<LaneReport> } {
  const child = fork(process.argv[1]!, ['--lane'], { execArgv: laneFlags });
  const { until, ...rest } = order;
  const told: LaneOrder = {
    test: test.name,
    order: { ...rest, abreast: 1, lane: { index, of: order.abreast } },
    milliseconds: until === Infinity ? undefined : until - performance.now(),
  };
  child.send(told);
  const report = new Promise<LaneReport>((resolve, reject) => {
    let last: LaneReport | undefined;
    child.on('message', (message) => (last = message as LaneReport));
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (last?.isEnd === true) resolve(last);
      else reject(new Error(`${test.name}: a lane ended with ${code ?? signal} after ${last?.done ?? 0} points.`));
    });
  });
  return { child, report };
}

/** The other end: what a process does that was started as a lane. */
export async function beLane(tests: readonly FaultTest[], say: (line: string) => void): Promise<void> {
  const {
    test: name,
    order,
    milliseconds,
  } = await new Promise<LaneOrder>((resolve) => process.once('message', (message) => resolve(message as LaneOrder)));
  const test = tests.find((one) => one.name === name)!;
  const tally = new Tally(say);
  const report = (isEnd: boolean): void => {
    const { done, violations, notes } = tally;
    process.send!({ done, violations, notes: [...notes], isEnd } satisfies LaneReport);
  };
  const timer = setInterval(report, reportEvery, false);
  await test.run({ ...order, until: milliseconds === undefined ? Infinity : performance.now() + milliseconds }, tally);
  clearInterval(timer);
  report(true);
  process.disconnect();
}
