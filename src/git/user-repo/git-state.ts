import { createHash } from 'node:crypto';

import { pathToJson } from '../../core/entry-path.js';
import {
  type BranchState,
  type GitState,
  type HeadState,
  type StashState,
  withoutCredentials,
} from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import type { RepositoryConfig } from './config-file.js';
import type { GuardedDirectory, Reading } from './guarded-directory.js';
import { absent, read, unreadable } from './guarded-directory.js';
import type { Location } from './location.js';
import { formatOf, indexLimit, operationOf, readConfig } from './read-user-repo.js';
import { listRefs } from './ref-listing.js';
import { readHead } from './refs.js';

/*
 * What a repository says apart from its objects: refs, HEAD, stashes, remotes. Anything that cannot be read is said, so
 * that nobody takes it for protected.
 */

export interface RepositoryFacts {
  /** The same for a repository of which all that is here is the same, its index too. */
  readonly fingerprint: string;
  /** Whole names. */
  readonly refs: ReadonlyMap<string, ObjectId>;
  readonly head: HeadState | null;
  readonly headCommit: ObjectId | null;
  readonly branches: readonly BranchState[];
  readonly remotes: GitState['remotes'];
  readonly stashes: readonly StashState[];
  readonly operation: string | null;
  readonly operationCommits: GitState['operation_commits'];
  /** Commits whose parents the repository does without. */
  readonly shallow: ReadonlySet<ObjectId>;
  /** The index's bytes, or that there is none. */
  readonly index: Reading<Buffer>;
  readonly problems: readonly string[];
}

const logLimit = 64 * 1024 * 1024;

/** Undefined, with the reason, where refs or objects are in a form that we do not read: then nothing can be protected. */
export function readFacts(location: Location): RepositoryFacts | { readonly unreadable: string } {
  const problems: string[] = [];
  const config = readConfig(location.commonDir, problems);
  const format = formatOf(config);
  if (!format.refs) return { unreadable: format.problem ?? 'its format is not known' };
  const refs = listRefs(location.commonDir);
  if (refs.kind !== 'read') return { unreadable: refs.kind === 'absent' ? 'it has no refs' : refs.why };
  const shallow = readShallow(location.commonDir);
  if (shallow.kind === 'unreadable') return { unreadable: shallow.why };
  const index = location.gitDir.read('index', indexLimit);
  if (location.commonDir.exists('objects/info/alternates'))
    problems.push('objects that lie in another repository (alternates) are not read');
  const facts = {
    ...headOf(location, refs.value, problems),
    refs: refs.value,
    branches: branchesOf(refs.value, config),
    remotes: remotesOf(config),
    stashes: readStashes(location, problems),
    operation: operationOf(location.gitDir),
    operationCommits: operationCommitsOf(location.gitDir),
    shallow: shallow.kind === 'read' ? shallow.value : new Set<ObjectId>(),
    index,
    problems,
  };
  return { ...facts, fingerprint: fingerprintOf(facts) };
}

function fingerprintOf({ index, refs, shallow, ...facts }: Omit<RepositoryFacts, 'fingerprint'>): string {
  const hash = createHash('sha1').update(JSON.stringify([...refs, ...shallow, facts]));
  return hash.update(index.kind === 'read' ? index.value : index.kind).digest('hex');
}

function headOf(
  { gitDir }: Location,
  refs: ReadonlyMap<string, ObjectId>,
  problems: string[],
): Pick<RepositoryFacts, 'head' | 'headCommit'> {
  const head = readHead(gitDir);
  if (head.kind !== 'read') {
    problems.push(head.kind === 'absent' ? 'HEAD is missing' : head.why);
    return { head: null, headCommit: null };
  }
  if ('oid' in head.value) return { head: { commit: head.value.oid }, headCommit: head.value.oid };
  const { ref } = head.value;
  if (!ref.startsWith('refs/heads/')) {
    problems.push('HEAD names no branch');
    return { head: null, headCommit: null };
  }
  return { head: { branch: pathToJson(ref.slice('refs/heads/'.length)) }, headCommit: refs.get(ref) ?? null };
}

function branchesOf(refs: ReadonlyMap<string, ObjectId>, config: RepositoryConfig): BranchState[] {
  return below(refs, 'refs/heads/').map(([name, commit]) => {
    const remote = config.get('branch', name, 'remote');
    const merge = config.get('branch', name, 'merge');
    const upstream =
      remote === undefined || merge === undefined
        ? null
        : { remote: pathToJson(withoutCredentials(remote)), merge: pathToJson(merge) };
    return { name: pathToJson(name), commit, upstream };
  });
}

/** The refs below a prefix that ends with a slash, by the rest of their names. */
export function below(refs: ReadonlyMap<string, ObjectId>, prefix: string): (readonly [string, ObjectId])[] {
  return [...refs].flatMap(([name, oid]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), oid] as const] : [],
  );
}

function remotesOf(
  config: RepositoryConfig,
): { name: ReturnType<typeof pathToJson>; url: ReturnType<typeof pathToJson> }[] {
  return [...config.entries()].flatMap(([key, value]) => {
    const [section, name, variable] = key.split('\0');
    if (section !== 'remote' || name === undefined || variable !== 'url') return [];
    return [{ name: pathToJson(name), url: pathToJson(withoutCredentials(value)) }];
  });
}

function readShallow(commonDir: GuardedDirectory): Reading<Set<ObjectId>> {
  const file = commonDir.read('shallow', logLimit);
  if (file.kind !== 'read') return file;
  const lines = file.value
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
  if (!lines.every((line) => /^[0-9a-f]{40}$/.test(line))) return unreadable('its list of shallow commits is damaged');
  return read(new Set(lines as ObjectId[]));
}

/** Newest first. The reflog is the list; without one there is the newest at most. */
function readStashes({ commonDir }: Location, problems: string[]): StashState[] {
  const top = readOid(commonDir, 'refs/stash');
  const log = commonDir.read('logs/refs/stash', logLimit);
  if (log.kind === 'unreadable') problems.push(`stashes: ${log.why}`);
  const stashes = log.kind === 'read' ? parseStashes(log.value.toString('latin1'), problems) : [];
  const newest = top.kind === 'read' ? top.value : packedStash(commonDir);
  if (top.kind === 'unreadable') problems.push(`stashes: ${top.why}`);
  if (newest !== undefined && !stashes.some(({ commit }) => commit === newest))
    stashes.unshift({ commit: newest, who: 'jackin-snap <jackin-snap@localhost> 0 +0000', message: 'stash' });
  return stashes;
}

function parseStashes(log: string, problems: string[]): StashState[] {
  const stashes: StashState[] = [];
  for (const line of log.split('\n').filter((text) => text !== '')) {
    const [, oid, who, message = ''] = /^[0-9a-f]{40} ([0-9a-f]{40}) ([^\t]*)(?:\t([^]*))?$/.exec(line) ?? [];
    if (oid === undefined || who === undefined) problems.push('a line of the list of stashes is damaged');
    else stashes.unshift({ commit: oid as ObjectId, who: pathToJson(who), message: pathToJson(message) });
  }
  return stashes;
}

function packedStash(commonDir: GuardedDirectory): ObjectId | undefined {
  const packed = commonDir.read('packed-refs', 4 * logLimit);
  if (packed.kind !== 'read') return undefined;
  return /^([0-9a-f]{40}) refs\/stash$/m.exec(packed.value.toString('latin1'))?.[1] as ObjectId | undefined;
}

const operationHeads = [
  ['MERGE_HEAD', 'MERGE_HEAD'],
  ['CHERRY_PICK_HEAD', 'CHERRY_PICK_HEAD'],
  ['REVERT_HEAD', 'REVERT_HEAD'],
  ['REBASE_HEAD', 'REBASE_HEAD'],
  ['ORIG_HEAD', 'ORIG_HEAD'],
  ['rebase-merge/orig-head', 'REBASE_ORIG_HEAD'],
  ['rebase-apply/orig-head', 'REBASE_ORIG_HEAD'],
  ['rebase-merge/onto', 'REBASE_ONTO'],
  ['rebase-apply/onto', 'REBASE_ONTO'],
  ['rebase-merge/autostash', 'REBASE_AUTOSTASH'],
] as const;

/** Only while an operation is in progress: else ORIG_HEAD is what somebody left. */
function operationCommitsOf(gitDir: GuardedDirectory): { name: string; commit: ObjectId }[] {
  if (operationOf(gitDir) === null) return [];
  return operationHeads.flatMap(([path, name]) => {
    const oid = readOid(gitDir, path);
    return oid.kind === 'read' ? [{ name, commit: oid.value }] : [];
  });
}

function readOid(directory: GuardedDirectory, path: string): Reading<ObjectId> {
  const file = directory.read(path, 64 * 1024);
  if (file.kind !== 'read') return file;
  const oid = /^([0-9a-f]{40})(?:\s|$)/.exec(file.value.toString('latin1', 0, 64))?.[1];
  return oid === undefined ? absent : read(oid as ObjectId);
}
