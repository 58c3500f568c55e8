import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isSnapError } from '../../../src/errors.js';
import { randomFrom } from '../../support/random.js';
import { Area } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { numbersOf } from '../equipment/fault-test.js';
import { mutated } from '../equipment/mutate.js';
import type { ParserSubject } from '../equipment/parser-subjects.js';
import { parserSubjects } from '../equipment/parser-subjects.js';

const subjects = 12;

/** Whatever bytes say: they are read as something that can be written, or turned down in the way that is documented. */
export const parsers: FaultTest = {
  name: 'parsers',
  about: 'everything that is read from disk is fed with damaged and planted bytes',
  counts: { short: 2_000 * subjects, nightly: 1_000_000 * subjects, soak: 10_000_000 * subjects },
  lacks: () => undefined,
  inLanes: true,
  run: async (order, tally) => {
    const area = new Area();
    try {
      mkdirSync(area.at('parsers'));
      for (const subject of parserSubjects(join(area.at('parsers')))) await feedAll(subject, order, tally);
    } finally {
      area.remove();
    }
  },
};

async function feedAll(subject: ParserSubject, order: Order, tally: Tally): Promise<void> {
  if (order.point !== undefined) {
    feedNamed(subject, order.point, order.seed, tally);
    return;
  }
  for (const sample of subject.samples)
    if (feedOne(subject, `${subject.name} / as it is`, sample, tally) === 'refused')
      throw new Error(`${subject.name} turns down what was written for it.`);
  let fed = 0;
  for (const number of numbersOf({ ...order, count: Math.ceil(order.count / subjects) })) {
    if (performance.now() > order.until) return;
    if (number < subject.samples.length) continue;
    feedOne(subject, `${subject.name} / ${number}`, inputOf(subject, order.seed, number), tally);
    // So that a signal is heard.
    if ((fed += 1) % 5000 === 0) await new Promise(setImmediate);
  }
}

function feedNamed(subject: ParserSubject, point: string, seed: number, tally: Tally): void {
  const [name, index] = point.split(' / ');
  if (name !== subject.name) return;
  const input = inputOf(subject, seed, Number(index));
  tally.say(JSON.stringify(input));
  feedOne(subject, point, input, tally);
}

function feedOne(subject: ParserSubject, point: string, input: string, tally: Tally): Answer {
  const { answer, problem } = judged(subject, input);
  if (answer === 'refused') tally.note(`${subject.name}: turned down`);
  const shown = `${problem}\n  input: ${JSON.stringify(input.slice(0, 600))}`;
  tally.add(point, problem === undefined ? [] : [shown]);
  return answer;
}

/** The same for the same seed and number, whatever else is run. */
function inputOf({ name, samples }: ParserSubject, seed: number, number: number): string {
  const own = Buffer.from(name).reduce((hash, byte) => (hash * 31 + byte) | 0, seed);
  const random = randomFrom(Math.imul(number + 1, 0x9e3779b1) ^ own);
  return mutated(random.pick(samples), random.pick(samples), random);
}

const millisecondsAtMost = 200;
const bytesAtMost = 100 * 1024 * 1024;

type Answer = 'taken' | 'refused';

interface Judged {
  readonly answer: Answer;
  readonly problem: string | undefined;
}

function judged(subject: ParserSubject, input: string): Judged {
  const before = memory();
  const first = timed(subject, input);
  const grown = memory() - before;
  if (grown > bytesAtMost) return { ...first, problem: `it takes ${grown} bytes` };
  // The machine may have been busy with something else.
  const isSlow = first.took > millisecondsAtMost && timed(subject, input).took > millisecondsAtMost;
  return isSlow ? { ...first, problem: `it takes ${Math.round(first.took)} ms` } : first;
}

function timed(subject: ParserSubject, input: string): Judged & { readonly took: number } {
  const start = performance.now();
  const found = fed(subject, input);
  return { ...found, took: performance.now() - start };
}

function fed({ codes, feed }: ParserSubject, input: string): Judged {
  try {
    feed(input);
    return { answer: 'taken', problem: undefined };
  } catch (error) {
    if (codes.some((code) => isSnapError(error, code))) return { answer: 'refused', problem: undefined };
    return { answer: 'taken', problem: error instanceof Error ? toldOf(error) : String(error) };
  }
}

function toldOf({ name, message, cause, stack }: Error): string {
  const place = stack?.split('\n').find((line) => line.includes('src/') && !line.includes('test/')) ?? '';
  return `${name}: ${message}${cause instanceof Error ? ` (${cause.message})` : ''} ${place.trim()}`;
}

function memory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
