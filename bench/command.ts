import { spawn, spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Memory } from './process-tree.js';
import { memoryNow, moreOf, noMemory, processesNaming, watchMemory } from './process-tree.js';

export interface Command {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Measured {
  /** From before the start of the process until after its end. */
  readonly seconds: number;
  readonly memory: Memory;
  readonly output: string;
}

/** Runs a command to its end, measured. One that fails ends the bench. */
export async function measure(command: Command): Promise<Measured> {
  const start = performance.now();
  const child = spawn(command.program, command.arguments, {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  const problems: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => problems.push(chunk));
  const drained = new Promise((resolve) => child.stdout.on('end', resolve));
  const watched = child.pid === undefined ? () => noMemory : watchMemory(child.pid);
  // Not until its pipes are closed: what it leaves behind to tidy up is not waited for.
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('exit', resolve);
  });
  const seconds = (performance.now() - start) / 1000;
  const memory = watched();
  await Promise.race([drained, pause(100)]);
  if (status !== 0) throw new Error(`${asText(command)} ended with ${status}:\n${text(problems)}`);
  return { seconds, memory, output: text(output) };
}

/** Several commands that do one work, one after the other. */
export async function measureAll(commands: readonly Command[]): Promise<Measured> {
  let all: Measured = { seconds: 0, memory: noMemory, output: '' };
  for (const command of commands) {
    const one = await measure(command);
    all = {
      seconds: all.seconds + one.seconds,
      memory: moreOf(all.memory, one.memory),
      output: all.output + one.output,
    };
  }
  return all;
}

/** Runs a command that is not measured, and gives its output. */
export async function run(command: Command): Promise<string> {
  return (await measure(command)).output;
}

/** Waits until no process works on this path any more, and tells what those that did needed. */
export async function settle(path: string): Promise<Memory> {
  let memory = noMemory;
  for (;;) {
    const pids = processesNaming(path);
    if (pids.length === 0) return memory;
    memory = moreOf(memory, memoryNow(pids));
    await pause(20);
  }
}

/** Has the kernel write what it still holds, so that one command does not pay for the one before. */
export function writeOut(): void {
  spawnSync('sync');
}

function asText({ program, arguments: given }: Command): string {
  return [program, ...given].join(' ');
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
