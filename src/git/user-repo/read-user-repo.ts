import { textOfBytes } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { RepositoryState } from '../../core/results.js';
import { readCommitTree } from './commit-tree.js';
import { type RepositoryConfig, parseConfig } from './config-file.js';
import type { GuardedDirectory } from './guarded-directory.js';
import { unreadable, valueOf } from './guarded-directory.js';
import { parseIndex } from './index-file.js';
import { type Location, locate } from './location.js';
import { readHead, resolveRef } from './refs.js';
import { TrackedIndex } from './tracked-index.js';
import { trackingRef } from './tracking-ref.js';

/** A user's repository as files, read in process. What could not be known is said in `state.unknown`. */
export interface UserRepo {
  readonly kind: 'clone' | 'worktree';
  readonly gitDir: string;
  readonly commonDir: string;
  /** `dirty` is null here: it depends on the files, see isDirty. */
  readonly state: RepositoryState;
  readonly headTree: ObjectId | null;
  /** What the branch's upstream names, as it was last fetched; null when there is none, or it is not known. */
  readonly upstreamCommit: ObjectId | null;
  /** The bytes of info/exclude, null when there is none or it cannot be read. */
  readonly excludeFile: string | null;
  readonly excludeUnreadable: boolean;
  /** Null when it cannot be read: then any path may be tracked. */
  readonly index: TrackedIndex | null;
  /** False where the repository says that the file system keeps no executable bits. */
  readonly fileMode: boolean;
}

const configLimit = 1024 * 1024;
const excludeLimit = 16 * 1024 * 1024;
export const indexLimit: number = 128 * 1024 * 1024;

/**
 * Reads the repository whose `.git` lies in `folder` (a path, or that of a held descriptor; bytes). No git runs, no link
 * is followed, nothing blocks. Null when `.git` is no repository at all.
 */
export function readUserRepo(folder: string, gitEntry: 'directory' | 'file'): Promise<UserRepo | null> {
  return new Promise((resolve) => resolve(readNow(folder, gitEntry)));
}

function readNow(folder: string, gitEntry: 'directory' | 'file'): UserRepo | null {
  const location = locate(folder, gitEntry);
  if (location.kind === 'unreadable') return unknownRepo(gitEntry, location.why, null);
  if (location.kind === 'absent') {
    // A `.git` file that leads nowhere makes git itself say that there is no repository: nothing is tracked.
    if (gitEntry === 'directory') return null;
    return unknownRepo(gitEntry, 'no repository is where .git leads', TrackedIndex.empty);
  }
  try {
    return gitEntry === 'directory' && !looksLikeOne(location.value.gitDir)
      ? null
      : readLocated(location.value, gitEntry);
  } finally {
    location.value.close();
  }
}

/** What is not known to be otherwise may be tracked, and may be ignored. */
function unknownRepo(gitEntry: 'directory' | 'file', why: string, index: TrackedIndex | null): UserRepo {
  const state = { head: null, branch: null, upstream: null, dirty: null, operation: null, unknown: [why] };
  return { ...emptyRepo(gitEntry), excludeUnreadable: index === null, state, index };
}

function emptyRepo(gitEntry: 'directory' | 'file'): Omit<UserRepo, 'state' | 'index'> {
  const kind = gitEntry === 'directory' ? 'clone' : 'worktree';
  return {
    kind,
    gitDir: '',
    commonDir: '',
    headTree: null,
    upstreamCommit: null,
    excludeFile: null,
    excludeUnreadable: false,
    fileMode: true,
  };
}

/** Also where it lets nobody look: then it may be one. */
function looksLikeOne(gitDir: GuardedDirectory): boolean {
  return ['HEAD', 'objects', 'refs', 'index'].some((name) => gitDir.look(name).kind !== 'absent');
}

function readLocated(location: Location, gitEntry: 'directory' | 'file'): UserRepo {
  const unknown: string[] = [];
  const config = readConfig(location.commonDir, unknown);
  const format = formatOf(config);
  if (format.problem !== null) unknown.push(format.problem);
  const { upstreamCommit, ...head } = format.refs ? readState(location, config, unknown) : noHead;
  const headTree = head.head === null ? undefined : valueOf(readCommitTree(location.commonDir, head.head), unknown);
  const index = format.index ? readIndex(location.gitDir, unknown) : null;
  const exclude = location.commonDir.read('info/exclude', excludeLimit);
  return {
    ...emptyRepo(gitEntry),
    gitDir: location.gitDirPath,
    commonDir: location.commonDirPath,
    headTree: headTree ?? null,
    upstreamCommit,
    excludeFile: valueOf(exclude, unknown)?.toString('latin1') ?? null,
    excludeUnreadable: exclude.kind === 'unreadable',
    index,
    fileMode: config.get('core', null, 'filemode')?.toLowerCase() !== 'false',
    state: { ...head, dirty: null, operation: operationOf(location.gitDir), unknown },
  };
}

const noConfig: RepositoryConfig = { get: () => undefined, entries: () => [], included: () => [] };

export function readConfig(commonDir: GuardedDirectory, unknown: string[]): RepositoryConfig {
  const content = valueOf(commonDir.read('config', configLimit), unknown);
  if (content === undefined) return noConfig;
  const config = parseConfig(content.toString('latin1'));
  if (config === undefined) unknown.push('config is malformed');
  return config ?? noConfig;
}

/** Which parts of the repository are in a form that we read. */
export function formatOf(config: RepositoryConfig): { refs: boolean; index: boolean; problem: string | null } {
  const objects = config.get('extensions', null, 'objectformat')?.toLowerCase() ?? 'sha1';
  if (objects !== 'sha1') return { refs: false, index: false, problem: `object format ${JSON.stringify(objects)}` };
  const refs = config.get('extensions', null, 'refstorage')?.toLowerCase() ?? 'files';
  if (refs !== 'files') return { refs: false, index: true, problem: `ref storage ${JSON.stringify(refs)}` };
  return { refs: true, index: true, problem: null };
}

type HeadState = Pick<RepositoryState, 'head' | 'branch' | 'upstream'> & Pick<UserRepo, 'upstreamCommit'>;

const noHead: HeadState = { head: null, branch: null, upstream: null, upstreamCommit: null };

function readState({ gitDir, commonDir }: Location, config: RepositoryConfig, unknown: string[]): HeadState {
  const reading = readHead(gitDir);
  if (reading.kind === 'absent') unknown.push('HEAD is missing');
  const head = valueOf(reading, unknown);
  if (head === undefined) return noHead;
  if ('oid' in head) return { ...noHead, head: head.oid };
  const commit = valueOf(resolveRef(gitDir, commonDir, head.ref), unknown) ?? null;
  const branch = head.ref.replace(/^refs\/heads\//, '');
  return {
    head: commit,
    branch: named(branch, unknown),
    upstream: upstreamOf(branch, config, unknown),
    upstreamCommit: upstreamCommitOf(branch, config, { gitDir, commonDir }),
  };
}

function upstreamCommitOf(
  branch: string,
  config: RepositoryConfig,
  { gitDir, commonDir }: Pick<Location, 'gitDir' | 'commonDir'>,
): ObjectId | null {
  const ref = trackingRef(branch, config);
  const commit = ref === null ? undefined : resolveRef(gitDir, commonDir, ref);
  return commit?.kind === 'read' ? commit.value : null;
}

function upstreamOf(branch: string, config: RepositoryConfig, unknown: string[]): string | null {
  const remote = config.get('branch', branch, 'remote');
  const merge = config.get('branch', branch, 'merge')?.replace(/^refs\/heads\//, '');
  if (remote === undefined || merge === undefined) return null;
  return named(remote === '.' ? merge : `${remote}/${merge}`, unknown);
}

/** The name as text; one that is not UTF-8 has none. */
function named(bytes: string, unknown: string[]): string | null {
  const text = textOfBytes(bytes);
  if (text === undefined) unknown.push('a branch name that is not UTF-8');
  return text ?? null;
}

const operations: readonly (readonly [string, string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['rebase-merge', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

export function operationOf(gitDir: GuardedDirectory): string | null {
  return operations.find(([path]) => gitDir.exists(path))?.[1] ?? null;
}

/** A repository without an index tracks nothing yet; null when it cannot be read. */
export function readIndex(gitDir: GuardedDirectory, unknown: string[]): TrackedIndex | null {
  const reading = gitDir.withFile('index', (file) =>
    file.size > indexLimit ? unreadable('the index is too large') : parseIndex(file.read(0, file.size), file.mtimeNs),
  );
  return reading.kind === 'absent' ? TrackedIndex.empty : (valueOf(reading, unknown) ?? null);
}
