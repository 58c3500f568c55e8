import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JackinSnap, SnapOptions } from '../../../src/index.js';
import { snapEnvironment } from '../../support/cli.js';
import type { Area } from './area.js';

// The library as it is built: bundled into the suite it would not find its threads, nor its version.
const checkout = process.env['JACKIN_TEST_CHECKOUT'] ?? join(import.meta.dirname, '../../..');
const { createSnap } = (await import(pathToFileURL(join(checkout, 'dist/index.js')).href)) as {
  createSnap: (options: SnapOptions) => JackinSnap;
};

/** The library over an area, in this process: commands without what starting one costs. */
export function libraryOver(area: Area, options: SnapOptions = {}): JackinSnap {
  const env = snapEnvironment(join(area.root, 'home'));
  return createSnap({ dataDir: area.dataDir, instance: 't', cwd: area.mount, env, ...options });
}

export const yes = (): Promise<boolean> => Promise.resolve(true);

export type Outcome<Result> =
  { readonly result: Result } | { readonly code: string; readonly message: string; readonly problems: string[] };

/** What came of a call. It must end in time, with a result or a failure that is known and no bug. */
export async function outcomeOf<Result>(
  what: string,
  call: () => Promise<Result>,
  secondsAtMost = 60,
): Promise<Outcome<Result>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), secondsAtMost * 1000);
  });
  try {
    const first = await Promise.race([call().then((result) => ({ result })), late]);
    if (first !== 'late') return first;
    return { code: 'late', message: '', problems: [`${what} does not end within ${secondsAtMost} s`] };
  } catch (error) {
    return failureOf(what, error);
  } finally {
    clearTimeout(timer);
  }
}

function failureOf(what: string, error: unknown): Outcome<never> {
  const { name, message, stack = '' } = error as Error;
  const code = name === 'SnapError' ? (error as { readonly code: string }).code : 'none';
  const isBug = code === 'none' || code === 'INTERNAL';
  const problems = isBug ? [`${what} ends in a bug: ${stack.split('\n').slice(0, 5).join(' < ')}`] : [];
  return { code, message, problems };
}

export function problemsIn(outcome: Outcome<unknown>): string[] {
  return 'problems' in outcome ? outcome.problems : [];
}
