import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';

export interface ProcessRun {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Buffer;
  readonly timedOut: boolean;
}

export interface StartedProcess {
  readonly child: ChildProcess;
  readonly done: Promise<ProcessRun>;
}

export interface ProcessOptions {
  readonly cwd: string;
  /** All of the environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly timeout: number;
}

/** Starts a program and collects all that it says. After `timeout` milliseconds it and its children are killed. */
export function startProcess(command: string, args: readonly string[], options: ProcessOptions): StartedProcess {
  const { cwd, env } = options;
  const child = spawn(command, args, { cwd, env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined); // The program may end without having read all of it.
  child.stdin.end(options.stdin ?? '');
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child);
  }, options.timeout);
  const done = new Promise<ProcessRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const stdoutBytes = Buffer.concat(stdout);
      const stderrText = Buffer.concat(stderr).toString('utf8');
      resolve({ code, signal, stdout: stdoutBytes.toString('utf8'), stderr: stderrText, stdoutBytes, timedOut });
    });
  }).finally(() => clearTimeout(timer));
  return { child, done };
}

/** Runs a short program to its end. */
export function runProcess(command: string, args: readonly string[], options: ProcessOptions): ProcessRun {
  const { cwd, env, stdin, timeout } = options;
  const result = spawnSync(command, args, {
    cwd,
    env: { ...env },
    input: stdin ?? '',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 30,
  });
  const timedOut = (result.error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT';
  if (result.error !== undefined && !timedOut) throw result.error;
  return {
    code: result.status,
    signal: result.signal,
    stdout: result.stdout.toString('utf8'),
    stderr: result.stderr.toString('utf8'),
    stdoutBytes: result.stdout,
    timedOut,
  };
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
