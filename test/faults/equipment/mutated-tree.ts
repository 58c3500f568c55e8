import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../support/remove-tree.js';
import { startProcess } from '../../support/run-process.js';
import type { Mutant } from '../mutants/mutant.js';

const checkout = process.env['JACKIN_TEST_CHECKOUT'] ?? join(import.meta.dirname, '../../..');
const parts = ['src', 'test', 'bin', 'fixtures', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/** These start the command as it is built. */
const ofTheCommand = /^(acceptance|e2e|properties)\//;

/** What came of a run of tests. */
export interface Verdict {
  /** The first that failed; undefined when all passed. */
  readonly failed: string | undefined;
  /** Why it tells nothing. */
  readonly broken: string | undefined;
}

const trees = new Set<MutatedTree>();
process.on('exit', () => trees.forEach((tree) => tree.remove()));

/** A copy of the checkout in which lines are broken, and tests are run. */
export class MutatedTree {
  readonly #root = mkdtempSync(join(tmpdir(), 'jackin-mutants-'));
  #built: Mutant | null | undefined;

  constructor() {
    trees.add(this);
    // Some tests run the command as another user.
    chmodSync(this.#root, 0o755);
    const from = parts.map((name) => join(checkout, name));
    const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', ...from, this.#root]);
    if (status !== 0) throw new Error(`cp: ${stderr.toString()}`);
    symlinkSync(join(checkout, 'node_modules'), join(this.#root, 'node_modules'));
    // A mutant need not be well-typed.
    const settings = readFileSync(join(checkout, 'tsconfig.build.json'), 'utf8');
    const loose = settings.replace('"compilerOptions": {', '"compilerOptions": { "noCheck": true,');
    writeFileSync(join(this.#root, 'tsconfig.build.json'), loose);
  }

  /** The tests of a mutant with its line broken, or with `null` as it is. */
  async run(tests: readonly string[], mutant: Mutant | null): Promise<Verdict> {
    const file = mutant === null ? undefined : join(this.#root, 'src', mutant.file);
    const text = file === undefined ? '' : readFileSync(file, 'utf8');
    if (mutant !== null && occurrences(text, mutant.find) !== 1)
      return { failed: undefined, broken: `what it breaks is not in src/${mutant.file} just once` };
    try {
      if (file !== undefined)
        writeFileSync(
          file,
          text.replace(mutant!.find, () => mutant!.replace),
        );
      const unbuilt = tests.some((test) => ofTheCommand.test(test)) ? await this.#build(mutant) : undefined;
      return unbuilt === undefined ? await this.#test(tests) : { failed: undefined, broken: unbuilt };
    } finally {
      if (file !== undefined) writeFileSync(file, text);
    }
  }

  async #build(mutant: Mutant | null): Promise<string | undefined> {
    if (this.#built === mutant) return undefined;
    this.#built = undefined;
    const { code, stderr } = await this.#start(['bin/build.mjs']);
    if (code !== 0) return `it cannot be built: ${stderr.slice(0, 500)}`;
    this.#built = mutant;
    return undefined;
  }

  async #test(tests: readonly string[]): Promise<Verdict> {
    const report = join(this.#root, 'report.json');
    writeFileSync(report, '');
    const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
    const options = ['--no-file-parallelism', '--bail=1', '--no-cache', '--reporter=json', `--outputFile=${report}`];
    const paths = tests.map((test) => join('test', test));
    const { code, timedOut, stderr } = await this.#start([vitest, 'run', ...options, ...paths]);
    if (timedOut) return { failed: 'what never ends', broken: undefined };
    if (code === 0) return { failed: undefined, broken: undefined };
    const failed = firstFailure(readFileSync(report, 'utf8'));
    return failed === undefined
      ? { failed: undefined, broken: `its tests cannot be run: ${stderr.slice(-500)}` }
      : { failed, broken: undefined };
  }

  #start(args: readonly string[]): ReturnType<typeof startProcess>['done'] {
    const { PATH = '/usr/bin:/bin', HOME = '/' } = process.env;
    return startProcess(process.execPath, args, { cwd: this.#root, env: { PATH, HOME }, timeout: 240_000 }).done;
  }

  remove(): void {
    trees.delete(this);
    if (existsSync(this.#root)) removeTree(this.#root);
  }
}

export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** A test that failed, by its name; a file that cannot be loaded has none. */
function firstFailure(report: string): string | undefined {
  if (report === '') return undefined;
  const { testResults } = JSON.parse(report) as Report;
  return testResults.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === 'failed')
    ?.fullName;
}
