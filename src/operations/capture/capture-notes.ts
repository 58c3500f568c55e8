import { displayPath } from '../../core/entry-path.js';
import { absentNotes } from './absent-notes.js';
import type { CapturedMount } from './capture-mounts.js';

/** What has to be said of what was captured: what is not known, or was not there. */
export function captureNotes(all: readonly CapturedMount[]): string[] {
  return all.flatMap(({ mount, captured, repository, nested, rulesUnknown, stacks }) => [
    ...stacks.messages,
    ...(repository?.unknown ?? []).map(
      (what) => `The repository of mount ${mount.name} is not known in full: ${what}.`,
    ),
    ...nested.flatMap(({ path, unknown }) =>
      unknown.map((what) => `The repository in ${displayPath(path)} is not known in full: ${what}.`),
    ),
    ...absentNotes(captured),
    ...rulesUnknown.map(
      (path) =>
        `The ignore rules of ${displayPath(path === '' ? '.' : path)} could not be read: nothing there counts as ignored, and nothing there will be deleted.`,
    ),
  ]);
}
