import { readFileSync, readdirSync } from 'node:fs';

/** What a process and those that it started needed of memory, in bytes. */
export interface Memory {
  /** The most that any one process held at any moment, and which program that was. */
  readonly largest: number;
  readonly program: string;
  /** The most that all of them together were seen to hold at one moment; pages that they share count for each. */
  readonly together: number;
}

export const noMemory: Memory = { largest: 0, program: '', together: 0 };

export function moreOf(one: Memory, other: Memory): Memory {
  const { largest, program } = other.largest > one.largest ? other : one;
  return { largest, program, together: Math.max(one.together, other.together) };
}

/**
 * Watches a process and its descendants until it is told to stop. The kernel keeps each one's high-water mark, so a look
 * now and then misses only what a process takes in its last moments.
 */
export function watchMemory(pid: number): () => Memory {
  let seen = noMemory;
  const look = (): void => {
    seen = moreOf(seen, memoryNow(descendantsOf(pid)));
  };
  const first = setTimeout(look, firstPause);
  const timer = setInterval(look, pause);
  return () => {
    clearTimeout(first);
    clearInterval(timer);
    return seen;
  };
}

// Short commands are looked at too.
const firstPause = 5;
const pause = 25;

/** The memory of these processes as it is now; one that has ended counts for nothing. */
export function memoryNow(pids: readonly number[]): Memory {
  let memory = noMemory;
  let together = 0;
  for (const pid of pids) {
    const status = readOrNothing(`/proc/${pid}/status`);
    together += kibibytes(status, 'VmRSS');
    memory = moreOf(memory, {
      largest: kibibytes(status, 'VmHWM'),
      program: /^Name:\t(.*)$/m.exec(status)?.[1] ?? '',
      together: 0,
    });
  }
  return { ...memory, together };
}

/** The processes whose command line or environment names this path. */
export function processesNaming(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ['cmdline', 'environ'].some((file) => readOrNothing(`/proc/${pid}/${file}`).includes(path)))
    .map(Number);
}

function descendantsOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    readOrNothing(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(descendantsOf)];
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
}

// A process ends whenever it likes; one of somebody else may not be looked at.
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function kibibytes(status: string, field: string): number {
  return 1024 * Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
}
