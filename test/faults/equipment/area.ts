import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTree } from '../../support/build-tree.js';
import { fromBytes } from '../../support/bytes.js';
import type { SnapDocument } from '../../support/cli.js';
import { snapEnvironment } from '../../support/cli.js';
import { treeFingerprint } from '../../support/compare.js';
import { removeTree, removeWithin } from '../../support/remove-tree.js';
import type { ProcessRun, StartedProcess } from '../../support/run-process.js';
import { startProcess } from '../../support/run-process.js';
import type { TreeSpec } from '../../support/tree-plan.js';

export interface StartOptions {
  /** Put before the command: a tracer, say. */
  readonly before?: readonly string[];
  /** A folder that stands first in PATH. */
  readonly programs?: string;
  readonly timeout?: number;
  readonly instance?: string;
  readonly cwd?: string;
  /** Added to the small fixed environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const areas = new Set<Area>();
process.on('exit', () => areas.forEach((area) => area.remove()));

/** A mount, a data directory and a canary beside them, in memory where the machine allows it. */
export class Area {
  readonly root: string = mkdtempSync(join(memory() ?? tmpdir(), 'jackin-faults-'));
  readonly mount: string = join(this.root, 'm');
  readonly dataDir: string = join(this.root, 'data');
  readonly store: string = join(this.dataDir, 'store.git');
  readonly #kept: string = join(this.root, 'kept');
  readonly #canary: string = join(this.root, 'canary');
  readonly #wasCanary: string;

  constructor() {
    for (const path of [this.mount, this.#canary, join(this.root, 'home'), join(this.root, 'trace')]) mkdirSync(path);
    for (const name of ['a', 'b']) writeFileSync(join(this.#canary, name), `canary ${name}`);
    this.#wasCanary = treeFingerprint(this.#canary);
    areas.add(this);
  }

  /** A folder for traces and the like. */
  at(...names: string[]): string {
    return join(this.root, 'trace', ...names);
  }

  /** The mount's root stays the directory that it is. */
  async fill(tree: TreeSpec): Promise<void> {
    for (const name of readdirSync(this.mount, { encoding: 'buffer' })) removeWithin(this.mount, fromBytes(name));
    await buildTree(this.mount, tree);
  }

  start(args: readonly string[], options: StartOptions = {}): StartedProcess {
    const own = ['--data-dir', this.dataDir, '-i', options.instance ?? 't', '--json', ...args];
    const [program = '', ...rest] = [...(options.before ?? []), process.execPath, snapProgram(), ...own];
    const path = process.env['PATH'] ?? '/usr/bin:/bin';
    const searched = options.programs === undefined ? path : `${options.programs}:${path}`;
    return startProcess(program, rest, {
      cwd: options.cwd ?? this.mount,
      env: snapEnvironment(join(this.root, 'home'), { PATH: searched, UV_THREADPOOL_SIZE: '1', ...options.env }),
      timeout: options.timeout ?? 120_000,
    });
  }

  run(args: readonly string[], options: StartOptions = {}): Promise<ProcessRun> {
    return this.start(args, options).done;
  }

  /** What must work for the test to be a test. */
  async must(args: readonly string[], options: StartOptions = {}): Promise<SnapDocument> {
    const run = await this.run(args, options);
    if (run.code !== 0) throw new Error(`${args.join(' ')} exited with ${run.code ?? run.signal}: ${told(run)}`);
    return JSON.parse(run.stdout) as SnapDocument;
  }

  /** Keeps the data directory as it is, for `reset`. */
  keep(): void {
    copy(this.dataDir, this.#kept);
  }

  reset(): void {
    copy(this.#kept, this.dataDir);
  }

  /** What happened to files outside of mount and data directory. */
  canaryProblems(): string[] {
    return treeFingerprint(this.#canary) === this.#wasCanary ? [] : ['something outside of the mount was touched'];
  }

  remove(): void {
    areas.delete(this);
    removeTree(this.root);
  }
}

/** What a run had to say, in short. */
export function told({ stdout, stderr }: ProcessRun): string {
  return `${stdout.slice(0, 500)} ${stderr.split('\n').slice(0, 6).join(' < ').slice(0, 700)}`.trim();
}

/** A place that is there stays the directory that it is: it may be a file system of its own. */
function copy(from: string, to: string): void {
  if (!existsSync(from)) {
    removeTree(to);
    return;
  }
  if (!existsSync(to)) mkdirSync(to, { mode: 0o700 });
  for (const name of readdirSync(to)) removeWithin(to, name);
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', `${from}/.`, to]);
  if (status !== 0) throw new Error(`cp: ${stderr.toString()}`);
}

function memory(): string | undefined {
  return existsSync('/dev/shm') ? '/dev/shm' : undefined;
}

// The suite is run by vitest from where it lies, and by `run.js` bundled.
function snapProgram(): string {
  return join(process.env['JACKIN_TEST_CHECKOUT'] ?? join(import.meta.dirname, '../../..'), 'bin/jackin-snap');
}
