import { expect } from 'vitest';
import { pathFromJson } from '../../src/index.js';
import type { JsonPath } from '../../src/index.js';
import { parentOf } from '../support/bytes.js';
import type { SnapDocument } from '../support/cli.js';
import { runSnapJson } from '../support/cli.js';
import { compareTrees } from '../support/compare.js';
import { damage } from '../support/damage.js';
import { fsckStrict, pushToStrictServer } from '../support/store-git.js';
import type { TreeEntry } from '../support/walk.js';
import { walkTree } from '../support/walk.js';
import { regrouped } from '../properties/expected-restore.js';

export interface RoundTrip {
  readonly dataDir: string;
  readonly folder: string;
  readonly seed: number;
  readonly rounds?: number;
  /** Paths that the damage leaves alone. */
  readonly protect?: (path: string) => boolean;
}

/** Why a path that the snapshot does not hold may stay. */
const reasonsToStay = ['new_repository', 'ignored', 'excluded', 'secret', 'git_dir', 'special'];

/**
 * Saves a folder as it stands, damages it, restores, undoes, and looks after each step with a walker that shares no
 * code with the program. Answers what the save said.
 */
export async function roundTrip({ dataDir, folder, seed, rounds, protect }: RoundTrip): Promise<SnapDocument> {
  const options = { dataDir, cwd: folder, timeout: 600_000 };
  const saved = walkTree(folder, { withRoot: true });
  const save = await runSnapJson(['save', '-m', 'as it was'], options);
  expect(save.code, save.stdout.slice(0, 2000)).toBe(0);
  expect(save.document.data).toMatchObject({ created: true, complete: true });
  expect(compareTrees(saved, walkTree(folder, { withRoot: true }), { also: ['ino', 'mtimeNs', 'ctimeNs'] })).toEqual(
    [],
  );

  damage(folder, seed, { rounds: rounds ?? 60, ...(protect === undefined ? {} : { protect }) });
  const damaged = walkTree(folder, { withRoot: true });
  const restore = await runSnapJson(['restore', String(save.document.data.snapshot.seq), '--yes'], options);
  const obstructed = placesOfNewRepositories(saved, damaged);
  const failed = (restore.document.data?.kept ?? []).filter(
    ({ reason }: { reason: string }) => !reasonsToStay.includes(reason),
  );
  expect({ code: restore.code, failed: pathsOf(failed), messages: restore.document.error?.message }).toEqual({
    code: obstructed.size === 0 ? 0 : 6,
    failed: [...obstructed],
  });
  const restored = walkTree(folder, { withRoot: true });
  const observedOnly = pathsOf(save.document.data.observed_only);
  expectRestored({ saved, damaged, restored, obstructed }, observedOnly, restore.document);

  const undo = await runSnapJson(['undo', '--yes'], options);
  expect(undo.code, undo.stderr).toBe(0);
  const kept = new Set([...observedOnly, ...pathsOf(restore.document.data.kept)]);
  expectUndone(damaged, walkTree(folder, { withRoot: true }), kept);
  return save.document;
}

/** All is as before; only a hard link between what was taken away and what stayed was cut for good. */
function expectUndone(damaged: readonly TreeEntry[], undone: readonly TreeEntry[], kept: ReadonlySet<string>): void {
  const stayed = (path: string): boolean => upwards(path).some((at) => kept.has(at));
  for (const which of [stayed, (path: string): boolean => !stayed(path)]) {
    const part = (entries: readonly TreeEntry[]): TreeEntry[] => regrouped(entries.filter(({ path }) => which(path)));
    expect(compareTrees(part(damaged), part(undone))).toEqual([]);
  }
}

/** git itself finds the store clean, a strict server takes it, and the program vouches for every snapshot. */
export async function expectSound(dataDir: string): Promise<void> {
  expect(fsckStrict(dataDir)).toEqual([]);
  const pushed = await pushToStrictServer(dataDir);
  expect(pushed.accepted, pushed.output).toBe(true);
  const verified = await runSnapJson(['verify', '--full'], { dataDir, timeout: 600_000 });
  expect(verified, verified.stdout).toMatchObject({ code: 0, document: { data: { damaged: [], problems: [] } } });
}

interface Walks {
  readonly saved: readonly TreeEntry[];
  readonly damaged: readonly TreeEntry[];
  readonly restored: readonly TreeEntry[];
  readonly obstructed: ReadonlySet<string>;
}

/** Files and links whose place is a folder now that holds a repository: no restore clears it. */
function placesOfNewRepositories(saved: readonly TreeEntry[], damaged: readonly TreeEntry[]): Set<string> {
  const above = damaged
    .filter(({ path, type }) => type === 'directory' && path.endsWith('/.git'))
    .flatMap(({ path }) => upwards(path));
  const occupied = new Set(above);
  return new Set(saved.filter(({ path, type }) => type !== 'directory' && occupied.has(path)).map(({ path }) => path));
}

function expectRestored(walks: Walks, observedOnly: readonly string[], { data }: SnapDocument): void {
  const leftOut = new Set(observedOnly);
  const isLeftOut = (path: string): boolean => upwards(path).some((at) => leftOut.has(at));
  const isObstructed = (path: string): boolean => walks.obstructed.has(path);
  const stored = new Set(walks.saved.map(({ path }) => path).filter((path) => !isLeftOut(path) && !isObstructed(path)));
  // Hard links count among paths of one kind: what is restored is not tied to what is left alone.
  const only = (entries: readonly TreeEntry[], which: (path: string) => boolean): TreeEntry[] =>
    regrouped(entries.filter(({ path }) => which(path)));

  // What was stored is as it was saved; what was only seen is as it was left.
  const isStored = (path: string): boolean => stored.has(path);
  expect(compareTrees(only(walks.saved, isStored), only(walks.restored, isStored))).toEqual([]);
  const asLeft = compareTrees(only(walks.damaged, isLeftOut), only(walks.restored, isLeftOut), {
    also: ['mtimeNs'],
  });
  expect(asLeft).toEqual([]);

  // What else is there was there before, and is named with a reason that counts.
  const kept = data.kept as readonly { readonly path: JsonPath; readonly reason: string }[];
  const named = new Set(pathsOf(kept));
  const leadsToNamed = new Set([...named, ...leftOut].flatMap(upwards));
  const isOther = (path: string): boolean => !isStored(path) && !isLeftOut(path);
  const others = only(walks.restored, isOther);
  const before = new Map(walks.damaged.map((entry) => [entry.path, entry]));
  const ignore = { ignore: ['linkGroup' as const] };
  expect(
    compareTrees(
      others.flatMap(({ path }) => before.get(path) ?? []),
      others,
      ignore,
    ),
  ).toEqual([]);
  const isNamed = (path: string): boolean => leadsToNamed.has(path) || upwards(path).some((at) => named.has(at));
  expect(others.map(({ path }) => path).filter((path) => !isNamed(path))).toEqual([]);
}

function pathsOf(listed: readonly { readonly path: JsonPath }[]): string[] {
  return listed.map(({ path }) => pathFromJson(path));
}

function upwards(path: string): string[] {
  return path === '' ? [''] : [path, ...upwards(parentOf(path))];
}
