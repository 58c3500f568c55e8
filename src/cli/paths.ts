import { resolve } from 'node:path';
import { shellWord } from '../core/command-text.js';
import type { HostPath, PathArgument } from '../index.js';
import { bytesOfText, displayPath, parseEntryPath, systemCode } from './library.js';
import type { Surroundings } from './surroundings.js';
import { UsageError } from './usage-error.js';

/**
 * A PATH argument: relative to the mount's root, or `mount:path`, which the library takes apart because it alone knows
 * the mounts. Literal, never a pattern. `.` is the root.
 */
export function parsePathArgument(text: string): PathArgument {
  return pathFromBytes(bytesOfText(text));
}

function pathFromBytes(bytes: string): PathArgument {
  if (bytes.startsWith('/')) {
    throw new UsageError(
      `"${displayPath(bytes)}" is absolute; paths are relative to the root of the mount.`,
      (next) =>
        `Leave out the part up to the root of the mount, or write mount:path. See the paths: ${next('tree latest')}`,
    );
  }
  // A variable that is not set must never come to mean every path.
  if (bytes === '') throw new UsageError('A path is empty.', 'The root of the mount is written as . (a dot).');
  // What shells complete, and what people type, names the same path.
  const parts = bytes.split('/').filter((part) => part !== '' && part !== '.');
  return { mount: null, path: parseEntryPath(parts.join('/')) };
}

/** NUL-separated bytes from a file or, for "-", from stdin: paths that no argument can carry. */
export async function readPathsFrom(file: string, surroundings: Surroundings): Promise<readonly PathArgument[]> {
  const bytes = await readOrSay(file, surroundings);
  const paths = bytes.split('\0').filter((path) => path !== '');
  // No path must never come to mean every path.
  if (paths.length === 0) throw new UsageError(`${JSON.stringify(file)} names no path.`, writePaths(file));
  return paths.map(pathFromBytes);
}

/** How such a file is made. */
function writePaths(file: string): string {
  return `Write them there from the root of the mount, for example: find . -name '*.c' -print0 > ${file === '-' ? 'FILE' : shellWord(file)}`;
}

async function readOrSay(file: string, surroundings: Surroundings): Promise<string> {
  try {
    return Buffer.from(await surroundings.readFile(file)).toString('latin1');
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new UsageError(`Cannot read the paths from ${JSON.stringify(file)}: ${code}.`, writePaths(file));
  }
}

/** All paths of one command line, in the order: arguments, after `--`, from the file. */
export async function gatherPaths(
  given: { readonly words: readonly string[]; readonly from?: string | undefined },
  surroundings: Surroundings,
): Promise<readonly PathArgument[]> {
  const fromFile = given.from === undefined ? [] : await readPathsFrom(given.from, surroundings);
  return [...given.words.map(parsePathArgument), ...fromFile];
}

/** A folder or file of the host, absolute. */
export function hostPath(text: string, cwd: string): HostPath {
  if (text === '') throw new UsageError('A folder has an empty name.', 'The current folder is written as . (a dot).');
  return bytesOfText(resolve(cwd, text)) as HostPath;
}
