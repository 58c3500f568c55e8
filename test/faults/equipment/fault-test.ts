/** How much is asked: for every run of the tests, for a night, for days. */
export type Tier = 'short' | 'nightly' | 'soak';

export const tiers: readonly Tier[] = ['short', 'nightly', 'soak'];

export interface Order {
  readonly count: number;
  readonly seed: number;
  /** Only this point, by the name that a violation shows. */
  readonly point?: string;
  /** No new point is begun after it: what `performance.now()` says. */
  readonly until: number;
  /** Points at a time. */
  readonly abreast: number;
  /** Only each `of`th point, beginning with `index`: the others are done elsewhere. */
  readonly lane?: { readonly index: number; readonly of: number };
}

/** One test of the suite. Whatever it finds goes into its tally; it throws only when it is broken itself. */
export interface FaultTest {
  readonly name: string;
  readonly about: string;
  readonly counts: Readonly<Record<Tier, number>>;
  /** What this machine lacks for it, in words; undefined when nothing. */
  readonly lacks: () => string | undefined;
  /** Its points are numbered, and keep the suite's own process busy: they are done in several. */
  readonly inLanes?: true;
  readonly run: (order: Order, tally: Tally) => Promise<void>;
}

/** What came of a test so far. */
export class Tally {
  done = 0;
  readonly violations: string[] = [];
  /** Worth knowing, and no violation. */
  readonly notes = new Map<string, number>();
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** One point was checked; `found` is what was wrong there. */
  add(point: string, found: readonly string[]): void {
    this.done += 1;
    for (const problem of found) {
      this.violations.push(`${point}: ${problem}`);
      this.#say(`VIOLATION  ${point}: ${problem}`);
    }
  }

  note(text: string): void {
    this.notes.set(text, (this.notes.get(text) ?? 0) + 1);
  }

  say(line: string): void {
    this.#say(line);
  }
}

/** The numbers of the points to be done: one that was asked for by name, or those of this lane. */
export function numbersOf({ count, point, lane = { index: 0, of: 1 } }: Order): number[] {
  if (point !== undefined) return [Number.parseInt(point)];
  return Array.from(
    { length: Math.max(0, Math.ceil((count - lane.index) / lane.of)) },
    (_, at) => at * lane.of + lane.index,
  );
}

/** Does the jobs, some at a time, until none is left, `enough` says so or the time is over. */
export async function abreast<T>(
  jobs: readonly T[],
  { abreast: lanes, until }: Pick<Order, 'abreast' | 'until'>,
  act: (job: T) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined && performance.now() < until; job = waiting.shift())
      await act(job);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** What points are done with, again and again: one of these is in the hands of one point at a time. */
export interface Fixture {
  prepare(): Promise<void>;
  check(number: number, order: Order, tally: Tally): Promise<void>;
  remove(): void;
}

/** Does the numbered points, each with a fixture that is free. */
export async function withFixtures(make: () => Fixture, order: Order, tally: Tally): Promise<void> {
  const free = Array.from({ length: order.abreast }, make);
  const all = [...free];
  try {
    for (const fixture of all) await fixture.prepare();
    await abreast(numbersOf(order), order, async (number) => {
      const fixture = free.pop()!;
      await fixture.check(number, order, tally);
      free.push(fixture);
    });
  } finally {
    for (const fixture of all) fixture.remove();
  }
}
