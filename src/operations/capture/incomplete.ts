import type { EntryPath } from '../../core/entry-path.js';
import { partialReasons } from '../../core/entry.js';
import type { CapturedMount } from './capture-mounts.js';

/** Paths that should have been stored and could not be read. */
export function incompletePaths(captured: readonly CapturedMount[]): EntryPath[] {
  return captured.flatMap(({ captured: { leftOut, incomplete } }) => [
    ...leftOut.filter(({ reason }) => partialReasons.has(reason)).map(({ path }) => path),
    ...incomplete,
  ]);
}
