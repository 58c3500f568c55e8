import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { isAscii } from '../core/entry-path.js';
import { type InstanceName, type ObjectId, toSeq, zeroObjectId } from '../core/ids.js';
import type { RefChange, RefValue, SnapshotRef } from '../core/ports.js';
import { snapshotRefName } from '../core/snapshot-record.js';
import { SnapError, isSnapError } from '../errors.js';
import { syncDirectory } from '../fs/durable.js';
import { BatchReader } from './objects.js';
import { looseRefs, plainRef, snapshotNumbers } from './ref-names.js';
import { packedRefsDamage, readablePackedRefs, refuseDamagedPackedRefs } from './packed-refs.js';
import { refuseOtherKindsBelow, refuseOtherKindsIn } from './ref-kinds.js';
import { type RefRecord, RefRecords, commitParts, recordFormat } from './ref-records.js';
import type { GitCommand, GitRunner, RunningGit } from './run-git.js';

const snapshotPrefix = 'refs/jackin/';

/**
 * The snapshot refs of one instance or of all, by instance, then by number; one process, however many there are.
 * Where a commit cannot be read, its tree is all zeros and its message empty; where the ref itself cannot, so is its
 * commit: a snapshot that is damaged is still there, and its number is used.
 * @param newest only so many of the instance, those with the highest numbers
 */
export async function listSnapshotRefs(
  git: GitRunner,
  instance: InstanceName | null,
  newest?: number,
): Promise<SnapshotRef[]> {
  const prefix = instance === null ? snapshotPrefix : `${snapshotPrefix}${instance}/`;
  const { storeDirectory } = git.settings;
  // Looked at before git is asked: what comes meanwhile is then in neither list.
  const loose = looseRefs(storeDirectory, prefix);
  const names = newestNames(storeDirectory, instance, newest ?? Infinity);
  if (names?.length === 0) return [];
  const records = await readSnapshotRefs(git, names ?? [prefix]);
  const isWanted = names === undefined ? () => true : (name: string): boolean => names.includes(name);
  const broken = stillBroken(
    storeDirectory,
    loose.filter(isWanted),
    records.map(([name]) => name),
  );
  return [...records.map(toSnapshotRef), ...broken.map((name) => toSnapshotRef([name, zeroObjectId, '', '']))]
    .filter((ref) => ref !== undefined)
    .sort(bySnapshot)
    .slice(-(newest ?? Infinity));
}

/** More names than this are not handed to git one by one. */
const namedAtMost = 100;

/** Undefined where all are to be asked for. */
function newestNames(directory: string, instance: InstanceName | null, newest: number): string[] | undefined {
  if (instance === null || newest > namedAtMost) return undefined;
  return snapshotNumbers(directory, instance)
    .slice(-newest)
    .map((seq) => snapshotRefName(instance, seq));
}

/** One snapshot's ref, read as in `listSnapshotRefs`, its commit by the reader; undefined where there is none. */
export async function findSnapshotRef(
  git: GitRunner,
  name: string,
  reader: BatchReader,
): Promise<SnapshotRef | undefined> {
  const { storeDirectory } = git.settings;
  const oid = plainRef(storeDirectory, name);
  if (oid !== undefined) return toSnapshotRef([name, oid, ...(await readCommit(reader, oid))]);
  // git looks at all that lie beside it.
  refuseOtherKindsIn(storeDirectory, dirname(name));
  const record = (await readSnapshotRefs(git, [name])).find(([found]) => found === name);
  if (record !== undefined) return toSnapshotRef(record);
  const isThere = lstatSync(join(storeDirectory, name), { throwIfNoEntry: false })?.isDirectory() === false;
  return isThere ? toSnapshotRef([name, zeroObjectId, '', '']) : undefined;
}

async function readSnapshotRefs(git: GitRunner, patterns: readonly string[]): Promise<readonly RefRecord[]> {
  const command = { args: ['for-each-ref', `--format=${recordFormat}`, ...patterns] };
  const { stdout, end } = await git.start(command);
  const records = new RefRecords();
  for await (const chunk of stdout) records.push(chunk as Buffer);
  const { exitCode, stderr } = await end;
  if (exitCode === 0) return records.end();
  const found = await readOneByOne(git, patterns);
  if (found.length === 0) throw git.failure(command, exitCode, stderr);
  return found;
}

/** All refs below a prefix such as `refs/replace/`, by name. Where git dies over `packed-refs`, what we can read of it. */
export async function listRefs(git: GitRunner, prefix: string): Promise<RefValue[]> {
  const { storeDirectory } = git.settings;
  refuseOtherKindsBelow(storeDirectory, prefix.replace(/\/+$/, ''));
  const command = { args: ['for-each-ref', '--format=%(refname)%00%(objectname)%00', prefix] };
  const { exitCode, stdout, stderr } = await git.run(command);
  if (exitCode === 0) return parsePairs(stdout).map(([name, oid]) => ({ name, oid: oid as ObjectId }));
  if (packedRefsDamage(storeDirectory).problems.length === 0) throw git.failure(command, exitCode, stderr);
  return readableRefs(storeDirectory, prefix);
}

function readableRefs(storeDirectory: string, prefix: string): RefValue[] {
  const found = new Map(readablePackedRefs(storeDirectory));
  for (const name of looseRefs(storeDirectory, prefix)) {
    const oid = plainRef(storeDirectory, name);
    if (oid !== undefined) found.set(name, oid);
  }
  const isWanted = (name: string): boolean => name === prefix || name.startsWith(`${prefix.replace(/\/+$/, '')}/`);
  return Array.from(found, ([name, oid]) => ({ name, oid }))
    .filter(({ name }) => isWanted(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names below a prefix where something lies that git cannot read as a ref and passes over: empty, torn, garbage. */
export async function unreadableRefs(git: GitRunner, prefix: string): Promise<string[]> {
  const { storeDirectory } = git.settings;
  // Looked at before git is asked: what comes meanwhile is then in neither list.
  const loose = looseRefs(storeDirectory, prefix);
  const listed = (await listRefs(git, prefix)).map(({ name }) => name);
  return stillBroken(storeDirectory, loose, listed);
}

/** Those that git did not list, unless they were removed while it was asked. */
function stillBroken(storeDirectory: string, loose: readonly string[], listed: readonly string[]): string[] {
  const known = new Set(listed);
  const isThere = (name: string): boolean =>
    lstatSync(join(storeDirectory, name), { throwIfNoEntry: false }) !== undefined;
  return loose.filter((name) => !known.has(name) && isThere(name)).sort();
}

/**
 * Changes all of these refs or none, each only if it has its expected old value; durable when it returns. A crash
 * leaves the old values or the new ones (never a mix that git would show), and perhaps `.lock` files. Where making it
 * durable fails, the old values are put back.
 *
 * @throws SnapError REF_EXISTS when an old value does not hold, BUSY when another process (or one that was killed)
 *   holds a ref's lock file, NO_SPACE, STORE_DAMAGED when git dies over `packed-refs`.
 */
export async function changeRefs(
  git: GitRunner,
  changes: readonly RefChange[],
  { sync = syncDirectory, started }: ChangeOptions = {},
): Promise<void> {
  if (changes.length === 0) return;
  const command = { ...updating(directoriesOf(changes)), input: transaction(changes) };
  const { exitCode, stderr } = await (started === undefined ? git.run(command) : finish(await started, command.input));
  if (exitCode !== 0) {
    await findConflict(git, changes);
    refuseDamagedPackedRefs(git.settings.storeDirectory);
    throw git.failure(command, exitCode, stderr);
  }
  try {
    syncRefs(git.settings.storeDirectory, changes, sync);
  } catch (error) {
    await takeBack(git, changes, error);
    throw error;
  }
}

export interface ChangeOptions {
  readonly sync?: (directory: string) => void;
  /** What `startChange` started. */
  readonly started?: Promise<RunningGit> | undefined;
}

/** git, ready for the changes: it has touched nothing, and ends so when its input ends. The caller ends it. */
export function startChange(git: GitRunner): Promise<RunningGit> {
  return git.start(updating([]), true);
}

/** Gives a git that was started its whole input, and waits for its end. */
export async function finish({ stdin, stdout, end }: RunningGit, input: string): RunningGit['end'] {
  stdout.resume();
  stdin.end(input);
  return end;
}

function updating(makesFilesIn: readonly string[]): GitCommand {
  return { args: ['update-ref', '--stdin', '-z'], uninterruptible: true, makesFilesIn };
}

/** What could not be made durable must not be visible either: whoever is told of a failure goes by it. */
async function takeBack(git: GitRunner, changes: readonly RefChange[], cause: unknown): Promise<void> {
  const input = transaction(changes.map(({ name, old, new: next }) => ({ name, old: next, new: old })));
  const { exitCode } = await git.run({ ...updating(directoriesOf(changes)), input });
  if (exitCode === 0) return;
  const names = changes.map(({ name }) => name).join(', ');
  const message = `${names} changed, but this could not be made durable, and could not be taken back.`;
  throw new SnapError('GIT_FAILED', message, { command: 'update-ref', exitCode }, { cause });
}

function transaction(changes: readonly RefChange[]): string {
  return changes.map((change) => `option no-deref\0${instruction(change)}`).join('');
}

function instruction({ name, old, new: next }: RefChange): string {
  if (!/^refs\/[\x21-\x7e]+$/.test(name))
    throw new SnapError('INTERNAL', `${JSON.stringify(name)} is no ref of ours.`, { what: 'ref name' });
  if (next !== null) return old === null ? `create ${name}\0${next}\0` : `update ${name}\0${next}\0${old}\0`;
  if (old === null)
    throw new SnapError('INTERNAL', `${name} cannot be deleted without its old value.`, { what: 'ref change' });
  return `delete ${name}\0${old}\0`;
}

/** What stopped a transaction, found by looking, since git's words are not to be relied on. */
async function findConflict(git: GitRunner, changes: readonly RefChange[]): Promise<void> {
  const present = new Map((await listRefs(git, 'refs/')).map(({ name, oid }) => [name, oid]));
  for (const { name, old } of changes) {
    if ((present.get(name) ?? null) !== old)
      throw new SnapError('REF_EXISTS', `${name} is not what it should be before the change.`, { ref: name });
    const inTheWay = old === null ? nestedWith(name, present.keys()) : undefined;
    if (inTheWay !== undefined)
      throw new SnapError('REF_EXISTS', `${name} cannot exist beside ${inTheWay}.`, { ref: inTheWay });
  }
  const locked = [...changes.map(({ name }) => name), 'packed-refs'].find((name) =>
    existsSync(join(git.settings.storeDirectory, `${name}.lock`)),
  );
  if (locked !== undefined)
    throw new SnapError('BUSY', `${locked} is locked by another git process.`, {
      lock: locked,
      holder: 'another git process',
    });
}

function nestedWith(name: string, others: Iterable<string>): string | undefined {
  for (const other of others) if (name.startsWith(`${other}/`) || other.startsWith(`${name}/`)) return other;
  return undefined;
}

/** git syncs a ref's file, never the directory that names it. */
function syncRefs(storeDirectory: string, changes: readonly RefChange[], sync: (directory: string) => void): void {
  // git removes directories that a deletion left empty.
  const present = directoriesOf(changes)
    .map((directory) => join(storeDirectory, directory))
    .filter((directory) => existsSync(directory));
  for (const directory of present) sync(directory);
  // A deletion rewrites packed-refs, which lies beside.
  if (changes.some((change) => change.new === null)) sync(storeDirectory);
}

/** The directories that name these refs, the deepest first. */
function directoriesOf(changes: readonly RefChange[]): string[] {
  const directories = new Set<string>();
  for (const { name } of changes) {
    for (let directory = dirname(name); directory !== '.'; directory = dirname(directory)) directories.add(directory);
  }
  return [...directories].sort((a, b) => b.length - a.length);
}

/** Slower, and through everything that cannot be read: one missing commit must not hide the other snapshots. */
async function readOneByOne(git: GitRunner, patterns: readonly string[]): Promise<RefRecord[]> {
  const refs = (await Promise.all(patterns.map((pattern) => listRefs(git, pattern)))).flat();
  const reader = new BatchReader(git);
  try {
    return await Promise.all(
      refs.map(async ({ name, oid }) => [name, oid, ...(await readCommit(reader, oid))] as const),
    );
  } finally {
    await reader.close();
  }
}

async function readCommit(reader: BatchReader, oid: ObjectId): Promise<readonly [tree: string, message: string]> {
  try {
    return commitParts((await reader.find(oid, 'commit'))?.content.toString('latin1') ?? '');
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    return ['', ''];
  }
}

/** Pairs of a name and an id, each ended by NUL, each pair by a line feed. */
function parsePairs(stdout: Buffer): [name: string, oid: string][] {
  const fields = stdout.toString('latin1').split('\0');
  const pairs: [string, string][] = [];
  for (let at = 0; at + 2 < fields.length; at += 2) pairs.push([(fields[at] ?? '').trimStart(), fields[at + 1] ?? '']);
  return pairs;
}

function toSnapshotRef([ref, commit, tree, message]: RefRecord): SnapshotRef | undefined {
  const slash = ref.lastIndexOf('/');
  const instance = ref.slice(snapshotPrefix.length, slash);
  const seq = toSeq(ref.slice(slash + 1));
  if (seq === undefined || !ref.startsWith(snapshotPrefix) || instance === '' || instance.includes('/'))
    return undefined;
  return {
    instance: instance as InstanceName,
    seq,
    ref,
    commit: commit as ObjectId,
    tree: tree === '' ? zeroObjectId : (tree as ObjectId),
    message: utf8Of(message),
  };
}

function utf8Of(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

function bySnapshot(a: SnapshotRef, b: SnapshotRef): number {
  return a.instance === b.instance ? a.seq - b.seq : a.instance < b.instance ? -1 : 1;
}
