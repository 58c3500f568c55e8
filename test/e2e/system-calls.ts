import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';
import { snapBin, snapEnvironment } from '../support/cli.js';
import type { ProcessRun } from '../support/run-process.js';
import { runProcess } from '../support/run-process.js';
import { userGitText } from '../support/user-git.js';

/** One call that changes something on disk or starts a program, and the paths that it names, as latin1. */
export interface SystemCall {
  readonly line: string;
  readonly name: string;
  readonly paths: readonly string[];
}

export interface TraceOptions {
  readonly area: string;
  readonly cwd: string;
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** May this process trace others? */
export function canTrace(): boolean {
  return spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
}

/** Runs the program, its threads and all that they start, and answers every call that writes or executes. */
export function traceSnap(args: readonly string[], options: TraceOptions): { run: ProcessRun; calls: SystemCall[] } {
  const prefix = join(options.area, `trace-${(traces += 1)}`);
  const strace = ['-ff', '--seccomp-bpf', '-y', '-xx', '-qq', '-s', '20000', '-e', `trace=${[...traced].join(',')}`];
  const run = runProcess('strace', [...strace, '-o', prefix, process.execPath, snapBin, ...args], {
    cwd: options.cwd,
    env: snapEnvironment(options.home, options.env),
    timeout: 300_000,
  });
  const files = readdirSync(options.area).filter((name) =>
    name.startsWith(`${prefix.slice(options.area.length + 1)}.`),
  );
  return { run, calls: files.flatMap((name) => callsIn(readFileSync(join(options.area, name), 'latin1'))) };
}

let traces = 0;

/** Calls that change something other than what lies in `directory`, and the devices that swallow everything. */
export function changesOutside(calls: readonly SystemCall[], directory: string): string[] {
  const inside = (path: string): boolean => path === directory || path.startsWith(`${directory}/`);
  return calls
    .filter(({ name, paths }) => !executing.has(name) && paths.some((path) => !inside(path) && path !== '/dev/null'))
    .map(({ line, paths }) => `${paths.join(' ')} in ${line.slice(0, 200)}`);
}

/** The programs that were started, but for node, git with what belongs to it, and the locking program. */
export function foreignPrograms(calls: readonly SystemCall[], more: readonly string[] = []): string[] {
  const programs = calls.filter(({ name, line }) => executing.has(name) && line.endsWith(' = 0'));
  const gitPrograms = userGitText('/', ['--exec-path']);
  const known = new Set([process.execPath, ...['git', 'flock', ...more].map(findProgram)]);
  const paths = programs.flatMap(({ paths }) => paths.slice(0, 1));
  return paths.filter(
    (path) => !known.has(path) && !known.has(realpathSync(path)) && !path.startsWith(`${gitPrograms}/`),
  );
}

function findProgram(name: string): string {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  return realpathSync(stdout.trim());
}

const opening = new Set(['open', 'openat', 'openat2', 'creat']);
const executing = new Set(['execve', 'execveat']);
const changing = [
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir', 'mknod', 'mknodat'],
  ...['link', 'linkat', 'symlink', 'symlinkat', 'truncate', 'ftruncate', 'fallocate', 'bind'],
  ...['chmod', 'fchmod', 'fchmodat', 'chown', 'lchown', 'fchown', 'fchownat'],
  ...['utime', 'utimes', 'futimesat', 'utimensat'],
  ...['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr'],
];
const traced = new Set([...opening, ...executing, ...changing]);

// A file a process: no call is cut in two by another's.
function callsIn(trace: string): SystemCall[] {
  let cwd: string | undefined = / ?AT_FDCWD<([^>]*)>/.exec(trace)?.[1];
  return trace.split('\n').flatMap((line) => {
    const [, name, args] = /^(\w+)\((.*)\) += /.exec(line) ?? [];
    if (name === undefined || args === undefined) return [];
    cwd = /AT_FDCWD<([^>]*)>/.exec(args)?.[1] ?? cwd;
    if (opening.has(name) && name !== 'creat' && !/O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)/.test(args)) return [];
    return [{ line, name, paths: pathsIn(name, args, cwd) }];
  });
}

/** `dir<path>, "name"` is a name in that directory, `"name"` alone one in the working directory, `3<path>` the file. */
function pathsIn(name: string, args: string, cwd = ''): string[] {
  const named = [...args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:\\x[0-9a-f]{2})*)"/g)].map(
    ([, base = cwd, text = '']) => within(unhex(base), unhex(text)),
  );
  const held = [...args.matchAll(/(?<!\w)\d+<([^>]*)>(?!, ")/g)].map(([, path = '']) => unhex(path));
  // What a new link says is no place that is written to.
  return [...(name.startsWith('symlink') ? named.slice(1) : named), ...held];
}

function within(directory: string, path: string): string {
  return normalize(isAbsolute(path) ? path : `${directory}/${path}`);
}

function unhex(text: string): string {
  return text.replace(/\\x([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
