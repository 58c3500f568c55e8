import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';

import { SnapError, systemCode } from '../errors.js';
import { noSpace } from '../fs/durable.js';
import { isDiskFull } from './full-disk.js';
import { refusedDirectory } from './refusal.js';
import { type GitSettings, type Network, environmentOf, storeArguments } from './git-settings.js';
import type { GitProgram } from './programs.js';

export interface GitCommand {
  /** The command and its arguments. */
  readonly args: readonly string[];
  /** Closed when left out. */
  readonly input?: Uint8Array | string;
  /** With grafts (refs/replace), as stock git shows the history. Default: without. */
  readonly replacements?: boolean;
  /** Objects that are read besides the store's own. */
  readonly alternate?: string | undefined;
  /** Objects that are read in the place of the store's own. */
  readonly objectDirectory?: string;
  /** A configuration file of ours that is read besides. */
  readonly configurationFile?: string;
  /** A step that must not be cut off: it goes on when the caller is interrupted, and holds the caller's locks. */
  readonly uninterruptible?: boolean;
  /** Directories where it makes something, besides those of the store where git always does; from there, or absolute. */
  readonly makesFilesIn?: readonly string[];
  /** For what is to reach another repository. */
  readonly network?: Network;
  /** Takes lines of what it says on the way; those for which it answers true are no part of `stderr`. */
  readonly takesLine?: (line: string) => boolean;
}

export interface GitOutcome {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A git process in the making: its pipes, and how it ends. */
export interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects for a non-zero exit. @throws SnapError INTERRUPTED, GIT_MISSING. */
  readonly end: Promise<{ readonly exitCode: number; readonly stderr: string }>;
  kill(): void;
}

const keptOfStderr = 4000;

/**
 * The one way to start git. The store is named by argument; neither the caller's environment nor any configuration
 * file has a say; exit codes decide, messages are only passed on.
 */
export class GitRunner {
  readonly settings: GitSettings;
  readonly #program: () => Promise<GitProgram>;
  readonly #signal: AbortSignal | undefined;

  constructor(settings: GitSettings, program: () => Promise<GitProgram>, signal: AbortSignal | undefined) {
    this.settings = settings;
    this.#program = program;
    this.#signal = signal;
  }

  /** Runs to the end, whatever the exit code is. */
  async run(command: GitCommand): Promise<GitOutcome> {
    const git = await this.start(command);
    const chunks: Buffer[] = [];
    git.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const { exitCode, stderr } = await git.end;
    return { exitCode, stderr, stdout: Buffer.concat(chunks) };
  }

  /** Runs to the end and answers the output. @throws SnapError GIT_FAILED, NO_SPACE, DATA_DIR_DENIED */
  async output(command: GitCommand): Promise<Buffer> {
    const { exitCode, stdout, stderr } = await this.run(command);
    if (exitCode !== 0) throw this.failure(command, exitCode, stderr);
    return stdout;
  }

  /** Starts git with pipes. Without `input`, stdin stays open for the caller where `interactive` is set. */
  async start(command: GitCommand, interactive = false): Promise<RunningGit> {
    const signal = command.uninterruptible === true ? undefined : this.#signal;
    throwIfInterrupted(signal);
    const piped = interactive || command.input !== undefined;
    const child = await this.spawn(command, {
      stdio: [piped ? 'pipe' : 'ignore', 'pipe', 'pipe', ...this.#locksFor(command)],
      // What may ask keeps the terminal; nothing else has one.
      detached: command.network?.onTerminal !== true,
    });
    // A child that ends early closes its input; what it thinks of that is in its exit code.
    child.stdin?.on('error', () => undefined);
    if (command.input !== undefined) child.stdin?.end(command.input);
    return {
      stdin: child.stdin as Writable,
      stdout: child.stdout as Readable,
      end: endOf(child, signal, command.takesLine),
      kill: () => void child.kill('SIGTERM'),
    };
  }

  #locksFor({ uninterruptible }: GitCommand): number[] {
    return uninterruptible === true ? [...(this.settings.heldLocks ?? [])] : [];
  }

  /** The bare process, for those who wire its output themselves. */
  async spawn(command: GitCommand, options: SpawnOptions): Promise<ChildProcess> {
    const program = await this.#program();
    const included = command.configurationFile === undefined ? [] : ['-c', `include.path=${command.configurationFile}`];
    const besides = (command.network?.configuration ?? []).flatMap((setting) => ['-c', setting]);
    const args = [...storeArguments(this.settings), ...included, ...besides, ...command.args];
    return spawn(program.path, args, {
      cwd: this.settings.cwd ?? this.settings.storeDirectory,
      ...options,
      env: environmentOf(this.settings, command),
    });
  }

  /** The same git, over another repository. */
  for(settings: GitSettings): GitRunner {
    return new GitRunner(settings, this.#program, this.#signal);
  }

  async program(): Promise<GitProgram> {
    return this.#program();
  }

  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  /** The error that a failed command is: a full disk, or one that may not be written, is told apart by trying. */
  failure(command: GitCommand, exitCode: number, stderr: string): SnapError {
    const name = command.args[0] ?? 'git';
    const { storeDirectory } = this.settings;
    const told = stderr.trim() === '' ? '' : ` It said: ${JSON.stringify(stderr.trim())}.`;
    const cause = new SnapError('GIT_FAILED', `git ${name} failed with exit code ${String(exitCode)}.${told}`, {
      command: name,
      exitCode,
    });
    if (isDiskFull(storeDirectory)) return noSpace(storeDirectory, cause);
    const path = refusedDirectory(storeDirectory, command.makesFilesIn);
    if (path === undefined) return cause;
    return new SnapError('DATA_DIR_DENIED', `git ${name} may not write in ${path}.`, { path }, { cause });
  }
}

/** `git version`, away from any repository. */
export async function askVersion(path: string, settings: GitSettings): Promise<string> {
  const child = spawn(path, ['version'], {
    cwd: '/',
    env: environmentOf(settings),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('latin1')));
  const { exitCode } = await endOf(child, undefined);
  if (exitCode === 0) return output;
  throw new SnapError('GIT_FAILED', `git version failed with exit code ${String(exitCode)}.`, {
    command: 'version',
    exitCode,
  });
}

/** Waits for a child: its exit code, or 128 plus the signal's number as shells count. */
export function endOf(
  child: ChildProcess,
  signal: AbortSignal | undefined,
  takesLine?: GitCommand['takesLine'],
): RunningGit['end'] {
  const end = new Promise<{ exitCode: number; stderr: string }>((resolve, reject) => {
    let stderr = '';
    const keep = (text: string): void => {
      if (stderr.length < keptOfStderr) stderr += text;
    };
    const said = new ErrorOutput(takesLine, keep);
    child.stderr?.on('data', (chunk: Buffer) => {
      said.add(chunk.toString('latin1'));
    });
    const onAbort = (): void => void child.kill('SIGTERM');
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted === true) onAbort();
    child.on('error', (error) => {
      signal?.removeEventListener('abort', onAbort);
      reject(startFailure(child, error));
    });
    child.on('close', (code, killedBy) => {
      signal?.removeEventListener('abort', onAbort);
      said.end();
      if (killedBy !== null && signal?.aborted === true) reject(interruption(signal));
      else resolve({ exitCode: code ?? exitCodeOfSignal(killedBy), stderr });
    });
  });
  // Whoever reads the output first must not turn a failure into an unhandled one.
  end.catch(() => undefined);
  return end;
}

/** What a process says on its standard error: line by line where somebody takes some of the lines, else as it comes. */
class ErrorOutput {
  readonly #takesLine: ((line: string) => boolean) | undefined;
  readonly #keep: (text: string) => void;
  #open = '';

  constructor(takesLine: GitCommand['takesLine'], keep: (text: string) => void) {
    this.#takesLine = takesLine;
    this.#keep = keep;
  }

  add(text: string): void {
    if (this.#takesLine === undefined) {
      this.#keep(text);
      return;
    }
    const lines = (this.#open + text).split(/(?<=[\r\n])/);
    this.#open = /[\r\n]$/.test(lines.at(-1) ?? '') ? '' : (lines.pop() ?? '');
    for (const line of lines) if (!this.#takesLine(line)) this.#keep(line);
    // A line without an end is not waited for.
    if (this.#open.length > keptOfStderr) this.end();
  }

  end(): void {
    if (this.#takesLine?.(this.#open) !== true) this.#keep(this.#open);
    this.#open = '';
  }
}

export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interruption(signal);
}

export function interruption(signal: AbortSignal): SnapError<'INTERRUPTED'> {
  const reason: unknown = signal.reason;
  const name = reason === 'SIGINT' || reason === 'SIGHUP' ? reason : 'SIGTERM';
  return new SnapError('INTERRUPTED', `Interrupted by ${name}.`, { signal: name });
}

function startFailure(child: ChildProcess, error: Error): Error {
  if (systemCode(error) !== 'ENOENT') return error;
  return new SnapError(
    'GIT_MISSING',
    `${child.spawnfile} could not be started.`,
    { program: child.spawnfile },
    { cause: error },
  );
}

function exitCodeOfSignal(name: NodeJS.Signals | null): number {
  return 128 + (name === null ? 0 : constants.signals[name]);
}
