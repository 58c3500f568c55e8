import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { userInfo } from 'node:os';
import type { SnapDocument } from '../support/cli.js';
import { snapBin, snapEnvironment } from '../support/cli.js';
import type { CompareOptions } from '../support/compare.js';
import { compareTrees, treeFingerprint } from '../support/compare.js';
import type { ProcessRun, StartedProcess } from '../support/run-process.js';
import { startProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';
import type { Files } from '../support/user-git.js';
import { userGit, writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';

// The vocabulary of the acceptance tests: a scene is one user with a home, a data directory and folders to protect,
// and the program is run in it as that user would.

export const isRoot: boolean = process.getuid?.() === 0;
export const nobody = 65534;

export interface SceneOptions {
  /** Who runs the program: whoever runs the tests, or someone whom permissions stop. */
  readonly as?: 'caller' | 'ordinary user';
}

export interface RunOptions {
  /** Exit codes that are right; default 0. */
  readonly code?: number | readonly number[];
  /** Default: the scene's mount. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly timeout?: number;
  /** The name given with `-i`; default `t`. Null: none is given. */
  readonly instance?: string | null;
}

export interface SaveOptions extends RunOptions {
  /** The folders of the instance; default the scene's mount. Named at an instance's first save only. */
  readonly dirs?: readonly string[];
}

export interface JsonRun extends ProcessRun {
  readonly document: SnapDocument;
  // Tests read many shapes of it; the schemas themselves are tested elsewhere.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly data: any;
}

export class Scene {
  /** Holds all of the scene; removed when the test ends. */
  readonly area: string = tempDir('scene');
  readonly mount: string = join(this.area, 'm');
  readonly dataDir: string = join(this.area, 'data');
  /** A folder that no instance has, for canaries. */
  readonly outside: string = join(this.area, 'out');
  readonly home: string = join(this.area, 'home');
  readonly #ordinary: boolean;
  readonly #known = new Set<string>();

  constructor(options: SceneOptions = {}) {
    this.#ordinary = options.as === 'ordinary user' && isRoot;
    if (this.#ordinary) chownSync(this.area, nobody, nobody);
    this.asUser(() => {
      for (const path of [this.mount, this.outside, this.home]) mkdirSync(path);
    });
  }

  /** The user's store, a bare git repository. */
  get store(): string {
    return join(this.dataDir, 'store.git');
  }

  /** Does something as the user of the scene, so that what it makes is theirs. Only what is synchronous. */
  asUser<T>(act: () => T): T {
    if (!this.#ordinary) return act();
    process.setegid?.(nobody);
    process.seteuid?.(nobody);
    try {
      return act();
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  }

  /** Makes all objects as old as if they had been written an hour ago: what is younger is not freed. */
  ageObjects(): void {
    const when = Date.now() / 1000 - 3600;
    const objects = join(this.store, 'objects');
    for (const name of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(objects, name), when, when);
  }

  /** A path in the mount. */
  at(...names: string[]): string {
    return join(this.mount, ...names);
  }

  /** Writes files of the mount, with the folders that they need. */
  write(files: Files): void {
    this.asUser(() => writeFiles(this.mount, files));
  }

  /** Makes the mount a repository with these files in its first commit. */
  repository(files: Files): void {
    this.write(files);
    userGit(this.mount, ['init', '--quiet', '--initial-branch=main']);
    userGit(this.mount, ['add', '--all', '--force']);
    userGit(this.mount, ['commit', '--quiet', '--message=first']);
  }

  remove(...paths: string[]): void {
    for (const path of paths) rmSync(this.at(path), { recursive: true });
  }

  /** Text of a file of the mount; null when there is nothing. */
  read(path: string): string | null {
    return lstatSync(this.at(path), { throwIfNoEntry: false }) === undefined
      ? null
      : readFileSync(this.at(path), 'utf8');
  }

  /** Is anything there, be it a broken link? */
  has(path: string): boolean {
    return lstatSync(this.at(path), { throwIfNoEntry: false }) !== undefined;
  }

  /** One more folder beside the mount. */
  folder(name: string, files: Files = {}): string {
    const path = join(this.area, name);
    this.asUser(() => {
      mkdirSync(path, { recursive: true });
      writeFiles(path, files);
    });
    return realpathSync(path);
  }

  /** Starts the program and returns at once. */
  start(args: readonly string[], options: RunOptions = {}): StartedProcess {
    const instance = options.instance === undefined ? 't' : options.instance;
    const named = instance === null ? [] : ['-i', instance];
    const command = [process.execPath, snapBin, '--data-dir', this.dataDir, ...named, ...args];
    const [program = '', ...rest] = this.#ordinary ? [...becomeNobody, ...command] : command;
    return startProcess(program, rest, {
      cwd: options.cwd ?? this.mount,
      env: snapEnvironment(this.home, options.env),
      timeout: options.timeout ?? 120_000,
      ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    });
  }

  /** Runs the program to its end, which must be one of the codes. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<ProcessRun> {
    const run = await this.start(args, options).done;
    const codes = [options.code ?? 0].flat();
    const shown = `${args.join(' ')}\nstdout: ${run.stdout.slice(0, 2000)}\nstderr: ${run.stderr.slice(0, 2000)}`;
    expect(codes, `exit ${run.code ?? run.signal} of ${shown}`).toContain(run.code);
    return run;
  }

  /** The same with `--json`: its one document, and the data in it. */
  async json(args: readonly string[], options: RunOptions = {}): Promise<JsonRun> {
    const run = await this.run(['--json', ...args], options);
    const document = JSON.parse(run.stdout) as SnapDocument;
    return { ...run, document, data: document.data };
  }

  async save(args: readonly string[] = [], options: SaveOptions = {}): Promise<JsonRun> {
    const instance = options.instance ?? 't';
    const dirs = this.#known.has(instance) ? [] : (options.dirs ?? [this.mount]);
    const saved = await this.json(['save', ...args, ...dirs], options);
    if (saved.document.ok) this.#known.add(instance);
    return saved;
  }

  async restore(
    snapshot: number | string = 1,
    args: readonly string[] = [],
    options: RunOptions = {},
  ): Promise<JsonRun> {
    return this.json(['restore', String(snapshot), '--yes', ...args], options);
  }

  async undo(args: readonly string[] = [], options: RunOptions = {}): Promise<JsonRun> {
    return this.json(['undo', '--yes', ...args], options);
  }

  /** The snapshots of an instance, newest first. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async list(options: RunOptions = {}): Promise<any[]> {
    return (await this.json(['list'], options)).data.snapshots;
  }

  /** Their numbers. */
  async numbers(options: RunOptions = {}): Promise<number[]> {
    return (await this.list(options)).map(({ seq }) => seq as number);
  }

  /** The newest emergency snapshot. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async emergency(options: RunOptions = {}): Promise<any> {
    const found = (await this.list(options)).find(({ trigger }) => trigger === 'emergency');
    expect(found, 'there is an emergency snapshot').toBeDefined();
    return found;
  }

  /** One file of one snapshot. */
  async content(snapshot: number | string, path: string, options: RunOptions = {}): Promise<string> {
    return (await this.run(['cat', String(snapshot), '--', path], options)).stdout;
  }
}

/** Why a path was only observed in a save's or snapshot's document; undefined when it was not. */
export function observedReason(saved: JsonRun, path: string): string | undefined {
  const paths = saved.data.observed_only as { path: unknown; reason: string }[];
  return paths.find((observed) => typeof observed.path === 'string' && observed.path.replace(/\/$/, '') === path)
    ?.reason;
}

/** The paths that a restore kept, with the reason. */
export function keptReasons(restored: JsonRun): Record<string, string> {
  const kept = restored.data.kept as { path: string; reason: string }[];
  return Object.fromEntries(kept.map(({ path, reason }) => [path, reason]));
}

/** What a restore planned: `delete new/junk`. */
export function planned(restored: JsonRun): string[] {
  const plan = restored.data.plan as { path: string; action: string }[];
  return plan.map(({ action, path }) => `${action} ${path}`);
}

export interface Memory {
  /** The same look, now: lines that say what differs. */
  readonly differences: () => string[];
}

/** Types, modes, owners, bytes and links below a folder, without directories named `.git`. */
export function remember(root: string, options: CompareOptions & { readonly withGit?: boolean } = {}): Memory {
  const look = () => walkTree(root, { skipGitDirs: options.withGit !== true, withRoot: true });
  const then = look();
  return { differences: () => compareTrees(then, look(), options) };
}

/** All that `remember` holds and inodes, times, `.git` too: the same only when nobody wrote, replaced or touched. */
export function rememberUntouched(root: string): Memory {
  const then = treeFingerprint(root);
  return {
    differences: () => {
      const [was, is] = [then.split('\n'), treeFingerprint(root).split('\n')];
      return [
        ...was.filter((line) => !is.includes(line)).map((line) => `- ${line}`),
        ...is.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
      ];
    },
  };
}

export function expectSame(memory: Memory, what = 'the folder'): void {
  expect(memory.differences(), `${what} is as it was`).toEqual([]);
}

/** Both streams of a run, to look for a word in. */
export function said(run: ProcessRun): string {
  return run.stdout + run.stderr;
}

/** A program that leaves a mark when somebody runs it, and fails. */
export function trap(path: string, mark: string, then = 'exit 1'): string {
  writeFiles(join(path, '..'), { [path.slice(path.lastIndexOf('/') + 1)]: `#!/bin/sh\ntouch '${mark}'\n${then}\n` });
  spawnSync('chmod', ['+x', path]);
  return path;
}

/** May this process mount file systems? */
export function canMount(): boolean {
  if (!isRoot) return false;
  const probe = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return probe.status === 0;
}

/** A small file system of its own at a folder, until the test ends. */
export function mountTmpfs(path: string, size: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', path]);
  expect(mounted.status, mounted.stderr.toString()).toBe(0);
  onTestFinished(() => {
    spawnSync('umount', ['-l', path]);
  });
}

/** Names of files in a data directory that look temporary. */
export function leftovers(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  const files = walkTree(dataDir, { hash: false }).filter(({ type }) => type !== 'directory');
  return files.map(({ path }) => path).filter((path) => /(tmp|\.part)[^/]*$/i.test(path));
}

const becomeNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

/** The home directory that the machine, not the environment, knows for this user. */
export const machineHome: string = userInfo().homedir;
