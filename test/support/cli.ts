import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { toBytes } from './bytes.js';
import { removeTree } from './remove-tree.js';
import type { ProcessRun, StartedProcess } from './run-process.js';
import { startProcess } from './run-process.js';

export interface SnapOptions {
  /** Default: a fresh empty directory that belongs to no mount. */
  readonly cwd?: string;
  /** Passed as `--data-dir`. Without it the program finds its data directory below HOME, which is a temporary one. */
  readonly dataDir?: string;
  /** Added to a small fixed environment; nothing of the surroundings is inherited but PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Milliseconds until it is killed; default two minutes. */
  readonly timeout?: number;
  /** Names of any bytes, carried as latin1: written to a file that is passed as `--paths-from`. */
  readonly pathsFrom?: readonly string[];
  /** Another program to run in place of this checkout's bin/jackin-snap. */
  readonly bin?: string;
}

export type SnapRun = ProcessRun;

/** What `--json` prints, on success and on failure. */
export interface SnapDocument {
  readonly schema_version: string;
  readonly command: string;
  readonly ok: boolean;
  // Tests read many shapes of it; the schemas themselves are tested elsewhere.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly data?: any;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly paths?: readonly unknown[];
  };
  readonly messages: readonly unknown[];
  readonly timing: { readonly elapsed_seconds: number };
}

export interface SnapJsonRun extends SnapRun {
  readonly document: SnapDocument;
}

export const snapBin: string = resolve(import.meta.dirname, '../../bin/jackin-snap');

/** Runs the real program to its end. Whatever it answers is returned; only a program that cannot start throws. */
export async function runSnap(args: readonly string[], options: SnapOptions = {}): Promise<SnapRun> {
  return startSnap(args, options).done;
}

/** Runs the program with `--json` and reads its one document. Anything else on stdout throws. */
export async function runSnapJson(args: readonly string[], options: SnapOptions = {}): Promise<SnapJsonRun> {
  const run = await runSnap(['--json', ...args], options);
  return { ...run, document: parseDocument(args, run) };
}

/** Starts the program and returns at once, for tests that signal or watch it. */
export function startSnap(args: readonly string[], options: SnapOptions = {}): StartedProcess {
  const area = mkdtempSync(join(realpathSync(tmpdir()), 'jackin-run-'));
  const home = options.env?.['HOME'] ?? sharedHome();
  const started = startProcess(process.execPath, [options.bin ?? snapBin, ...fullArguments(args, options, area)], {
    cwd: options.cwd ?? area,
    env: snapEnvironment(home, options.env),
    timeout: options.timeout ?? 120_000,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
  });
  return { child: started.child, done: started.done.finally(() => removeTree(area)) };
}

/** The whole environment that the program sees. */
export function snapEnvironment(home: string, added: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: home, LC_ALL: 'C', TZ: 'UTC', ...added };
}

// Everything after `--` is a path, so options go before it.
function fullArguments(args: readonly string[], options: SnapOptions, area: string): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const global = options.dataDir === undefined ? [] : ['--data-dir', options.dataDir];
  return [...global, ...args.slice(0, end), ...namedPaths(options.pathsFrom, area), ...args.slice(end)];
}

function namedPaths(paths: readonly string[] | undefined, area: string): string[] {
  if (paths === undefined) return [];
  const list = join(area, 'paths');
  writeFileSync(list, toBytes(paths.map((path) => `${path}\0`).join('')));
  return ['--paths-from', list];
}

let home: string | undefined;

function sharedHome(): string {
  if (home !== undefined) return home;
  const made = mkdtempSync(join(realpathSync(tmpdir()), 'jackin-home-'));
  process.once('exit', () => removeTree(made));
  home = made;
  return made;
}

function parseDocument(args: readonly string[], run: SnapRun): SnapDocument {
  try {
    return JSON.parse(run.stdout) as SnapDocument;
  } catch (cause) {
    const shown = `exit ${run.code ?? run.signal}\nstdout: ${run.stdout}\nstderr: ${run.stderr}`;
    throw new Error(`Not one JSON document from ${JSON.stringify(args)}: ${shown}`, { cause });
  }
}
