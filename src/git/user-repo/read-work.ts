import type { BranchWork, RepositoryWork } from '../../core/assessment.js';
import type { ObjectId } from '../../core/ids.js';
import { countAhead, isReached } from './commit-walk.js';
import type { RepositoryConfig } from './config-file.js';
import type { GuardedDirectory } from './guarded-directory.js';
import { valueOf } from './guarded-directory.js';
import { leftCommits } from './left-commits.js';
import { type Location, locate } from './location.js';
import { type OwnWork, everything, isOwnBranch, isOwnStash, ownWork } from './own-work.js';
import { formatOf, operationOf, readConfig } from './read-user-repo.js';
import { listRefs } from './ref-listing.js';
import { type Head, readHead, resolveRef } from './refs.js';
import { RepositoryObjects } from './repository-objects.js';
import { trackingRef } from './tracking-ref.js';

/**
 * What a repository holds that its remotes may lack: branches, a detached HEAD, stashes, what is in progress. Read in
 * process; what cannot be read is said in `unknown`.
 */
export function readWork(folder: string, gitEntry: 'directory' | 'file'): RepositoryWork {
  const location = locate(folder, gitEntry);
  if (location.kind === 'unreadable') return { ...nothing, unknown: [location.why] };
  if (location.kind === 'absent') return { ...nothing, unknown: ['no repository is where .git leads'] };
  const objects = new RepositoryObjects(location.value.commonDir);
  try {
    return readLocated(location.value, objects, gitEntry === 'file');
  } finally {
    objects.close();
    location.value.close();
  }
}

const nothing: Omit<RepositoryWork, 'unknown'> = {
  head: null,
  branch: null,
  detached: false,
  headIsHeld: false,
  branches: [],
  left: [],
  stashes: 0,
  operation: null,
};

function readLocated(location: Location, objects: RepositoryObjects, mayBeLinked: boolean): RepositoryWork {
  const { gitDir, commonDir } = location;
  const unknown: string[] = [];
  const config = readConfig(commonDir, unknown);
  const operation = operationOf(gitDir);
  const format = formatOf(config);
  if (format.problem !== null) unknown.push(format.problem);
  if (!format.refs) return { ...nothing, operation, unknown };
  const head = headOf(location, unknown);
  const refs = valueOf(listRefs(commonDir), unknown) ?? new Map<string, ObjectId>();
  const own = mayBeLinked ? ownWork(location, head, config, unknown) : everything;
  return {
    ...head,
    headIsHeld: head.detached && head.head !== null && isReached(objects, head.head, tipsIn(refs)),
    branches: branchesOf({ refs, config, objects, current: head.branch, own }),
    left: mayBeLinked
      ? leftCommits(gitDir, objects, [...tipsIn(refs), ...(head.head === null ? [] : [head.head])])
      : [],
    stashes: countStashes(location, own, unknown),
    operation,
    unknown,
  };
}

function headOf(
  { gitDir, commonDir }: Location,
  unknown: string[],
): Pick<RepositoryWork, 'head' | 'branch' | 'detached'> {
  const reading = readHead(gitDir);
  if (reading.kind === 'absent') unknown.push('HEAD is missing');
  const head: Head | undefined = valueOf(reading, unknown);
  if (head === undefined) return { head: null, branch: null, detached: false };
  if ('oid' in head) return { head: head.oid, branch: null, detached: true };
  const commit = valueOf(resolveRef(gitDir, commonDir, head.ref), unknown) ?? null;
  return { head: commit, branch: head.ref.replace(/^refs\/heads\//, ''), detached: false };
}

function tipsIn(refs: ReadonlyMap<string, ObjectId>): ObjectId[] {
  return [...refs].filter(([name]) => !name.startsWith('refs/tags/')).map(([, oid]) => oid);
}

interface Branches {
  readonly refs: ReadonlyMap<string, ObjectId>;
  readonly config: RepositoryConfig;
  readonly objects: RepositoryObjects;
  readonly current: string | null;
  readonly own: OwnWork;
}

const heads = 'refs/heads/';
const remotes = 'refs/remotes/';

function branchesOf({ refs, config, objects, current, own }: Branches): BranchWork[] {
  const remoteTips = [...refs].filter(([ref]) => ref.startsWith(remotes)).map(([, oid]) => oid);
  return [...refs].flatMap(([ref, tip]) => {
    if (!ref.startsWith(heads)) return [];
    const name = ref.slice(heads.length);
    const tracking = trackingRef(name, config);
    const upstreamTip = tracking === null ? undefined : refs.get(tracking);
    const isOfRemote = tracking?.startsWith(remotes) !== false;
    return [
      {
        name,
        tip,
        current: name === current,
        upstream: tracking === null ? null : tracking.replace(/^refs\/(?:heads|remotes)\//, ''),
        gone: tracking !== null && upstreamTip === undefined,
        ahead: upstreamTip === undefined ? null : countAhead(objects, tip, upstreamTip),
        held: isOfRemote ? null : isReached(objects, tip, remoteTips),
        elsewhere: !isOwnBranch(own, name, tip),
      },
    ];
  });
}

const logLimit = 64 * 1024 * 1024;

/** All worktrees of a repository share one list of stashes. One without a line in the log is anybody's. */
function countStashes({ gitDir, commonDir }: Location, own: OwnWork, unknown: string[]): number {
  const stash = resolveRef(gitDir, commonDir, 'refs/stash');
  if (valueOf(stash, unknown) === undefined) return 0;
  const lines = linesOf(commonDir, unknown);
  return lines.length === 0 ? 1 : lines.filter((line) => isOwnStash(own, line)).length;
}

function linesOf(commonDir: GuardedDirectory, unknown: string[]): string[] {
  const log = valueOf(commonDir.read('logs/refs/stash', logLimit), unknown);
  return log === undefined ? [] : log.toString('latin1').split('\n').slice(0, -1);
}
