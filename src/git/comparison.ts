import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { isAscii } from '../core/entry-path.js';
import type { GitRequest } from '../core/ports.js';
import { SnapError } from '../errors.js';
import { makeScratchDirectory, writeNewFile } from '../fs/durable.js';
import { refuseOtherKindsBelow } from './ref-kinds.js';
import { type GitCommand, type GitRunner, endOf, throwIfInterrupted } from './run-git.js';

/*
 * git's diff and log for the user's eyes, or for a callback. Raw bytes: no textconv, no external diff. Paths in what
 * is shown, and those that limit it, are `<mount>/<path>`.
 */

const rawBytes = ['--no-ext-diff', '--no-textconv'];

/**
 * Compares two trees whose entries are mounts (`<commit>:mounts`). `scratch` is an objects directory that is read too.
 * @returns git's exit code: 1 for differences where `--exit-code` was asked for.
 * @throws SnapError USAGE when git does not know an option, GIT_FAILED.
 */
export function showDiff(
  git: GitRunner,
  trees: readonly [string, string],
  request: GitRequest,
  scratch?: string,
): Promise<number> {
  const args = ['diff', ...request.options, ...rawBytes, ...trees.map(checkedRevision)];
  return show(git, { args, alternate: scratch }, request.paths, request);
}

/** The history of these refs, newest first, as their grafts (refs/replace) join them; only what lies in mounts. */
export async function showLog(git: GitRunner, refs: readonly string[], request: GitRequest): Promise<number> {
  // Without a revision git would show that of HEAD.
  if (refs.length === 0) return 0;
  refuseOtherKindsBelow(git.settings.storeDirectory, 'refs');
  // Limited to paths, git leaves out what did not change them. Where none is asked for, every snapshot is shown, changed
  // or not, and git is still kept from what lies beside the mounts: trees of repositories may stand for any number of files.
  const isLimited = request.paths.length > 0 || request.options.some((option) => option.startsWith('-L'));
  const every = isLimited ? [] : ['--full-history', '--sparse'];
  const args = ['log', '--topo-order', ...every, ...request.options, ...rawBytes, '--relative=mounts/', '--stdin'];
  const paths = isLimited ? request.paths.map((path) => `mounts/${path}`) : ['mounts'];
  const input = refs.map((ref) => `${checkedRevision(ref)}\n`).join('');
  return show(git, { args, input, replacements: true }, paths, request);
}

async function show(
  git: GitRunner,
  command: GitCommand,
  paths: readonly string[],
  request: GitRequest,
): Promise<number> {
  throwIfInterrupted(git.signal);
  const colored = { ...command, args: withColor(command.args, request.output) };
  if (paths.every(isAscii) && totalLength(paths) < 64 * 1024) {
    return shown(git, { ...colored, args: [...colored.args, '--', ...paths] }, request);
  }
  return withBytesInArguments(git, [...colored.args, '--', ...paths], (alias) =>
    shown(git, { ...colored, ...alias }, request),
  );
}

/** The command's name first, then the colour, so that an option of the user's has the last word. */
function withColor([name = '', ...rest]: readonly string[], output: GitRequest['output']): string[] {
  const color = output.kind === 'inherit' && output.color ? 'always' : 'never';
  return [name, `--color=${color}`, ...rest];
}

/**
 * Node passes arguments as UTF-8 only, and the system limits their length. An alias in a configuration file carries
 * any bytes and any number of them: git puts it in the place of its name.
 */
async function withBytesInArguments(
  git: GitRunner,
  args: readonly string[],
  run: (alias: Pick<GitCommand, 'args' | 'configurationFile'>) => Promise<number>,
): Promise<number> {
  const scratch = makeScratchDirectory(join(git.settings.dataDir, 'tmp'));
  try {
    const configurationFile = join(scratch, 'arguments');
    const words = args.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const content = `[alias]\n\tjackin-arguments = "${words.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"\n`;
    writeNewFile(configurationFile, Buffer.from(content, 'latin1'), { mode: 0o600, durable: false });
    return await run({ args: ['jackin-arguments'], configurationFile });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function shown(git: GitRunner, command: GitCommand, { output }: GitRequest): Promise<number> {
  if (output.kind === 'collect') return collected(git, command, output.onData);
  if (output.pager === null || output.pager === '' || output.pager === 'cat')
    return toTerminal(git, command, 'inherit');
  return paged(git, command, output.pager);
}

async function collected(git: GitRunner, command: GitCommand, onData: (chunk: Uint8Array) => void): Promise<number> {
  const child = await git.spawn(command, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  (child.stdout as Readable).on('data', onData);
  return finished(git, command, child);
}

async function toTerminal(
  git: GitRunner,
  command: GitCommand,
  stdout: 'inherit' | NonNullable<ChildProcess['stdin']>,
): Promise<number> {
  const stdio: StdioOptions = ['pipe', stdout, 'pipe'];
  const child = await git.spawn(command, { stdio });
  if (stdout !== 'inherit') stdout.destroy();
  return finished(git, command, child);
}

/** The pager is the user's own word (PAGER): it gets the user's environment and a shell, but no program of a mount. */
async function paged(git: GitRunner, command: GitCommand, pager: string): Promise<number> {
  const env = { LESS: 'FRX', LV: '-c', ...git.settings.env, PATH: git.settings.searchPath() };
  const reader = spawn('/bin/sh', ['-c', pager], { stdio: ['pipe', 'inherit', 'inherit'], env });
  const closed = endOf(reader, undefined);
  reader.stdin.on('error', () => undefined);
  try {
    return await toTerminal(git, command, reader.stdin);
  } finally {
    await closed;
  }
}

const brokenPipe = 141;

async function finished(git: GitRunner, command: GitCommand, child: ChildProcess): Promise<number> {
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(command.input);
  const { exitCode, stderr } = await endOf(child, git.signal);
  // A pager that was left early is no failure.
  if (exitCode === brokenPipe) return 0;
  if (exitCode <= 1) return exitCode;
  if (exitCode === 129)
    throw new SnapError('USAGE', `git does not accept these options: ${JSON.stringify(stderr.split('\n')[0] ?? '')}.`, {
      what: 'git option',
    });
  throw git.failure(command, exitCode, stderr);
}

function checkedRevision(revision: string): string {
  if (/^[\x21-\x2c\x2e-\x5d\x5f-\x7e][\x21-\x7e]*$/.test(revision)) return revision;
  throw new SnapError('INTERNAL', `${JSON.stringify(revision)} is no revision of ours.`, { what: 'revision' });
}

function totalLength(paths: readonly string[]): number {
  return paths.reduce((total, path) => total + path.length + 1, 0);
}
