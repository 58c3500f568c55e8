import { closeSync, constants, fstatSync, openSync, readSync, readdirSync } from 'node:fs';

import { displayPath } from '../../core/entry-path.js';
import { SnapError, systemCode } from '../../errors.js';

/** More than any of jackin's own records or settings take. */
const sizeLimit = 16 * 1024 * 1024;

/**
 * The text of a file that is not ours; undefined when there is none. Nothing is created, locked or waited for.
 * @throws SnapError CONFIGURATION_INVALID when it cannot be read, is too large or no file at all
 */
export function readTextFile(path: string): string | undefined {
  let descriptor: number;
  try {
    // A pipe in its place would be waited for.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw invalid(path, `it cannot be read (${code ?? 'unknown'})`, error);
  }
  try {
    return readAll(path, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readAll(path: string, descriptor: number): string {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw invalid(path, 'it is no file');
  if (stat.size > sizeLimit) throw invalid(path, 'it is too large');
  const buffer = Buffer.alloc(stat.size);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count)
    count = readSync(descriptor, buffer, length, buffer.length - length, null);
  return buffer.toString('utf8', 0, length);
}

/** The names in a directory, sorted; none where it is not there. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw invalid(path, `it cannot be read (${code ?? 'unknown'})`, error);
  }
}

/** @param line counted from 1, where it is known */
export function invalid(
  file: string,
  problem: string,
  cause?: unknown,
  line?: number,
): SnapError<'CONFIGURATION_INVALID'> {
  const where = line === undefined ? displayPath(file) : `${displayPath(file)}:${String(line)}`;
  return new SnapError('CONFIGURATION_INVALID', `${where}: ${problem}.`, { file, problem }, { cause });
}
