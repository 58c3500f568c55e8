import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessRun } from '../../support/run-process.js';
import { removeTree } from '../../support/remove-tree.js';
import type { Area } from './area.js';
import type { Disk } from './disk.js';

/** What a power cut at some moment of a command would leave. */
export interface Cut {
  /** The how-maniest such moment, and the system call that had just returned. */
  readonly name: string;
  readonly image: string;
  /** What the command had said by then: all, where it had ended. */
  readonly run: ProcessRun | undefined;
}

/** After these the disk may be another one. */
const stopping = ['fsync', 'fdatasync', 'syncfs', 'sync', 'rename', 'renameat', 'renameat2', 'link', 'linkat'].join(
  ',',
);

/**
 * Runs a command that stops after each of these calls, and copies the disk as it is then; likewise when one of its
 * processes has ended. Moments between which nothing was written to the disk are one.
 */
export async function cutsOf(area: Area, args: readonly string[], disk: Disk, folder: string): Promise<Cut[]> {
  const trace = area.at('cuts');
  removeTree(area.at());
  for (const path of [area.at(), folder]) mkdirSync(path, { recursive: true });
  const tracing = ['-f', '-q', '-s', '0', '-e', 'signal=SIGSTOP', '-e', `trace=${stopping}`];
  const injecting = ['-e', `inject=${stopping}:signal=SIGSTOP`, '-o', trace];
  const started = area.start(args, { before: ['strace', ...tracing, ...injecting] });
  const cuts: Cut[] = [];
  let moments = 0;
  let writes = -1;
  const cut = (call: string, run?: ProcessRun): void => {
    moments += 1;
    if (run === undefined && disk.writes === writes) return;
    const image = join(folder, `${moments}`);
    disk.copy(image);
    writes = disk.writes;
    cuts.push({ name: `${moments} ${call}`, image, run });
  };
  const watch = new Watch(trace, cut);
  const kill = (): void => killAll(started.child.pid);
  process.prependOnceListener('exit', kill);
  let failure: Error | undefined;
  const looking = setInterval(() => {
    try {
      if (failure === undefined) watch.look();
    } catch (error) {
      failure = error as Error;
      kill();
    }
  }, 1);
  const run = await started.done.finally(() => {
    clearInterval(looking);
    process.off('exit', kill);
  });
  if (failure !== undefined) throw failure;
  cut('end', run);
  return cuts;
}

/** Reads a trace while it is written, and lets go on what it stopped. */
class Watch {
  readonly #trace: string;
  readonly #cut: (call: string) => void;
  /** Of each thread the call that it made last, until it was stopped for it. */
  readonly #calls = new Map<string, string>();
  readonly #threads = new Set<string>();
  #read = 0;
  #idleSince = performance.now();

  constructor(trace: string, cut: (call: string) => void) {
    this.#trace = trace;
    this.#cut = cut;
  }

  look(): void {
    const text = existsSync(this.#trace) ? readFileSync(this.#trace, 'utf8') : '';
    const end = text.lastIndexOf('\n') + 1;
    const lines = text.slice(this.#read, end).split('\n').slice(0, -1);
    this.#read = end;
    for (const line of lines) this.#take(line);
    if (lines.length > 0) this.#idleSince = performance.now();
    else this.#wake();
  }

  #take(line: string): void {
    const [, thread = '', call, resumed, stopped, exited] =
      /^(\d+) +(?:(\w+)\(|<\.\.\. (\w+) resumed>|(--- stopped by)|(\+\+\+ exited))/.exec(line) ?? [];
    const made = call ?? resumed;
    this.#threads.add(thread);
    if (made !== undefined) this.#calls.set(thread, made);
    if (exited !== undefined) {
      this.#threads.delete(thread);
      this.#cut('exit');
    }
    const last = this.#calls.get(thread);
    // All threads of a process stop, one of them for its call.
    if (stopped === undefined || last === undefined) return;
    this.#calls.delete(thread);
    this.#cut(last);
    goOn(thread);
  }

  /** Where a stop came in another order than thought. */
  #wake(): void {
    if (performance.now() - this.#idleSince < 1000) return;
    this.#idleSince = performance.now();
    for (const thread of this.#threads) goOn(thread);
  }
}

/** Those that are stopped, too, which would hold the disk for ever. */
function killAll(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function goOn(thread: string): void {
  try {
    process.kill(Number(thread), 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
