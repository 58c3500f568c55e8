import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../support/remove-tree.js';
import type { ProcessRun } from '../../support/run-process.js';
import type { Area } from './area.js';
import { told } from './area.js';

/** One system call of a command: the n-th of its name in the program's first thread, or in its n-th git or sync. */
export interface Place {
  /** `main`, or the how-maniest start of which program: `git 3`. */
  readonly who: string;
  readonly call: string;
  readonly nth: number;
  /** As it was seen when the command was recorded. */
  readonly line: string;
}

export interface Strike {
  readonly run: ProcessRun;
  /** False when the command had less to do than the recorded one: nothing happened to it. */
  readonly struck: boolean;
}

export function lacksStrace(): string | undefined {
  const { status } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']);
  return status === 0 ? undefined : 'strace is missing or may not trace';
}

/** Runs the command twice, once for its own calls, once for those of its children; the state must be reset after. */
export async function record(
  area: Area,
  args: readonly string[],
  calls: readonly string[],
  again: () => Promise<void>,
): Promise<Place[]> {
  const trace = area.at('main');
  const tracing = ['-q', '-y', '-s', '300', '-e', 'signal=none', '-e', `trace=${calls.join(',')}`];
  succeeded(args, await area.run(args, { before: ['strace', ...tracing, '-o', trace] }));
  const own = placesIn(readFileSync(trace, 'utf8'), 'main', area.root);
  await again();
  const programs = wrap(
    area,
    (name, real) => `exec strace -f ${tracing.join(' ')} -o '${area.at(name)}'.$n '${real}' "$@"`,
  );
  succeeded(args, await area.run(args, { programs }));
  const traces = readdirSync(area.at()).flatMap((file) => {
    const [, name, n] = /^(git|sync)\.(\d+)$/.exec(file) ?? [];
    return name === undefined ? [] : [{ who: `${name} ${n}`, text: readFileSync(area.at(file), 'utf8') }];
  });
  return [...own, ...traces.flatMap(({ who, text }) => placesIn(text, who, area.root))];
}

/**
 * Runs the command and does to one call what `injection` says (`signal=KILL`, `error=EIO`). `together`: a kill takes the
 * whole process group; else the killed process alone.
 */
export async function strike(
  area: Area,
  args: readonly string[],
  { who, call, nth }: Place,
  { injection, onwards = false, together = false }: { injection: string; onwards?: boolean; together?: boolean },
): Promise<Strike> {
  removeTree(area.at());
  mkdirSync(area.at());
  const trace = area.at('struck');
  const inject = `inject=${call}:${injection}:when=${nth}${onwards ? '+' : ''}`;
  const tracing = ['-q', '-y', '-e', 'signal=none', '-e', `trace=${call}`, '-e', inject, '-o', trace];
  const started =
    who === 'main'
      ? area.start(args, { before: ['strace', ...tracing], timeout: 60_000 })
      : area.start(args, { programs: wrap(area, struckChild(who, tracing, together)), timeout: 60_000 });
  const { pid } = started.child;
  if (together)
    started.child.once('exit', (_, signal) => {
      if (signal === 'SIGKILL') killGroup(pid);
    });
  const run = await started.done;
  await groupIsGone(pid);
  return { run, struck: existsSync(trace) && hit(readFileSync(trace, 'utf8'), area.root) };
}

/** A call may be another one than in the recorded run, since programs also talk to themselves: that one does not count. */
function hit(trace: string, area: string): boolean {
  if (/killed by SIGKILL|= \?$/m.test(trace)) return true;
  const failed = trace.split('\n').find((line) => line.includes('(INJECTED)'));
  return failed !== undefined && namesOurs(failed, area);
}

const struckChild =
  (who: string, tracing: readonly string[], together: boolean) =>
  (name: string, real: string): string => {
    const [program, number] = who.split(' ');
    if (program !== name) return `exec '${real}' "$@"`;
    const words = tracing.map((word) => `'${word}'`).join(' ');
    return `[ $n = ${number} ] || exec '${real}' "$@"
strace -f ${words} '${real}' "$@"
code=$?
[ $code -lt 128 ] || kill -KILL ${together ? '0' : '$$'}
exit $code`;
  };

/** Programs that count how often they are started, in `$n`, and go on as `body` says. Answers their folder. */
function wrap(area: Area, body: (name: string, real: string) => string): string {
  removeTree(area.at());
  mkdirSync(area.at('bin'), { recursive: true });
  for (const name of ['git', 'sync']) {
    const file = join(area.at('bin'), name);
    const count = area.at(`${name}-count`);
    writeFileSync(
      file,
      `#!/bin/sh
n=0
[ ! -r '${count}' ] || read -r n <'${count}'
n=$((n + 1))
echo $n >'${count}'
${body(name, programPath(name))}
`,
    );
    chmodSync(file, 0o755);
  }
  return area.at('bin');
}

/** Counted as strace counts: for each thread and name. The first thread that comes to a number stands for it. */
function placesIn(trace: string, who: string, area: string): Place[] {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  return trace.split('\n').flatMap((line) => {
    const [, thread = '', call] = /^(?:(\d+) +)?(\w+)\(/.exec(line) ?? [];
    if (call === undefined) return [];
    const nth = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, nth);
    if (seen.has(`${call} ${nth}`)) return [];
    seen.add(`${call} ${nth}`);
    return concernsUs(line, area) ? [{ who, call, nth, line: line.slice(0, 300) }] : [];
  });
}

/** It names what lies in the area, or starts a program. What failed by itself did nothing. */
function concernsUs(line: string, area: string): boolean {
  return !line.includes('CLONE_THREAD') && !line.includes(' = -1 EN') && namesOurs(line, area);
}

function namesOurs(line: string, area: string): boolean {
  // The folder that the command runs in stands beside every path, also beside those of Node's own files.
  const named = line.replace(/AT_FDCWD<[^>]*>, (?="\/)/g, '');
  return named.includes(area) || named.includes('"/proc/self/fd/') || /^(\d+ +)?(clone3?|vfork)\(/.test(line);
}

function succeeded(args: readonly string[], run: ProcessRun): void {
  // A command that has nothing left to do says so.
  if (run.code !== 0 && run.code !== 3)
    throw new Error(`Under strace ${args.join(' ')} exited with ${run.code ?? run.signal}: ${told(run)}`);
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What outlives its parent for a moment must not change things while they are looked at. */
async function groupIsGone(pid: number | undefined): Promise<void> {
  for (let turn = 0; turn < 2000 && pid !== undefined && isThere(pid); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

function programPath(name: string): string {
  return spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
}
