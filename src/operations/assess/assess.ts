import {
  type AssessedMount,
  type AssessedRepository,
  type Assessment,
  type FileChange,
  type Judgement,
  judgeRepository,
  unobservable,
  worstOf,
} from '../../core/assessment.js';
import { rootPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import { exitPolicyOf, type InstanceRecord, type MountRecord } from '../../core/instance-record.js';
import type { Directory } from '../../core/ports.js';
import { SnapError, isSnapError, systemCode } from '../../errors.js';
import { type CapturedMount, openRoot } from '../capture/capture-mounts.js';
import { atRepository } from '../capture/recorded-repositories.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { findInstance, recordOrLast } from '../recovery/find-instance.js';
import { chosenRecord } from '../session/choose-instance.js';
import { reconcile } from '../session/reconcile.js';
import { knowIfReadable, pointerTo } from '../snapshots.js';
import { compareFolder } from './compare-folder.js';
import { type SeenRepository, captureForGit, uncommittedIn, unreadIn } from './uncommitted-files.js';

/**
 * What each mount of an instance has that would be lost with it. Nothing is written, and no git runs on a mount.
 * @param selector a name, a container, an instance id or a role key; undefined: the instance of the context
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, INTERRUPTED
 */
export async function assess(context: Context, selector?: string): Promise<Assessment> {
  await reconcile(context);
  return assessRecord(context, await recordFor(context, selector));
}

/** The record of the instance that is meant; of one that is lost or damaged, what its last snapshot has of it. */
export async function recordFor(context: Context, selector: string | undefined): Promise<InstanceRecord> {
  if (selector === undefined) return chosenRecord(context);
  const named = context.registry.all().find(({ name }) => name === selector);
  if (named !== undefined) return named;
  const name = await findInstance(context, selector);
  const record = await recordOrLast(context, name);
  if (record !== undefined) return record;
  throw new SnapError('INSTANCE_NOT_FOUND', `Of instance ${name} no snapshot can be read.`, { instance: name });
}

export async function assessRecord(context: Context, record: InstanceRecord): Promise<Assessment> {
  const hasStore = context.store.exists();
  const lock = hasStore ? await lockForReading(context) : undefined;
  try {
    const mounts: AssessedMount[] = [];
    for (const mount of record.mounts) mounts.push(await assessMount(context, record, mount));
    const last = hasStore ? (await context.store.snapshots(record.name)).at(-1) : undefined;
    const known = last === undefined ? undefined : knowIfReadable(last);
    const [first, ...others] = mounts.map(({ verdict }) => verdict);
    return {
      instance: record.name,
      state: context.registry.all().some(({ name }) => name === record.name) ? record.state : 'unrecorded',
      verdict: worstOf(first ?? 'clean', others),
      mounts,
      latest: known === undefined ? null : pointerTo(known),
      exitPolicy: exitPolicyOf(record),
    };
  } finally {
    lock?.release();
  }
}

async function assessMount(context: Context, record: InstanceRecord, mount: MountRecord): Promise<AssessedMount> {
  const { base, isolation } = originOf(context, record, mount);
  const present = context.host.identity(mount.path)?.directory === true;
  const about = { name: mount.name, path: mount.path, present, isolation };
  try {
    const root = openRoot(context, mount);
    try {
      return { ...about, ...(await lookInto(context, record, mount, root, base)) };
    } finally {
      root.close();
    }
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    if (isSnapError(error, 'INTERRUPTED')) throw error;
    // A sentence of its own there, and a part of one here.
    const message = (error as Error).message.replace(/\.$/, '');
    return { ...about, kind: null, repositories: [], files: [], comparedWith: null, ...unobservable(message) };
  }
}

/** Where a mount was made for the session, the commit that it was made from is known. */
function originOf(
  context: Context,
  record: InstanceRecord,
  { name, path }: MountRecord,
): { readonly base: ObjectId | null; readonly isolation: AssessedMount['isolation'] } {
  const origin = record.recovery?.mounts.find((one) => one.name === name)?.isolation ?? null;
  if (origin !== null) return { base: origin.base_commit as ObjectId | null, isolation: origin.kind };
  const worktree = context.registry.worktrees().find((one) => one.name === record.name);
  if (worktree === undefined || !('stage' in worktree) || worktree.path !== path)
    return { base: null, isolation: 'shared' };
  return { base: worktree.baseCommit, isolation: 'worktree' };
}

type Looked = Omit<AssessedMount, 'name' | 'path' | 'present' | 'isolation'>;

async function lookInto(
  context: Context,
  record: InstanceRecord,
  mount: MountRecord,
  root: Directory,
  base: ObjectId | null,
): Promise<Looked> {
  const gitEntry = root.stat('.git')?.kind;
  if (gitEntry !== undefined && gitEntry !== 'directory' && gitEntry !== 'file')
    return { ...nothingSeen, ...unobservable('its .git is a link or something special') };
  const seen = await captureForGit(context, record, mount);
  const repositories: AssessedRepository[] = [];
  const files: FileChange[] = [];
  for (const one of seen.repositories) {
    const assessed = await assessRepository(context, root, one, seen, one.path === rootPath ? base : null);
    repositories.push(assessed.repository);
    files.push(...assessed.files);
  }
  const own = repositories.find(({ path }) => path === rootPath);
  if (own !== undefined) return { ...judged(repositories, unreadIn(seen)), kind: seen.kind, files, comparedWith: null };
  const compared = await compareFolder(context, record, mount);
  return {
    kind: 'plain',
    repositories,
    verdict: worstOf(
      compared.verdict,
      repositories.map(({ verdict }) => verdict),
    ),
    risks: compared.risks,
    files: [...compared.files, ...files],
    comparedWith: compared.comparedWith,
  };
}

const nothingSeen = { kind: null, repositories: [], files: [], comparedWith: null } as const;

function judged(
  repositories: readonly AssessedRepository[],
  unread: readonly string[],
): Judgement & Pick<AssessedMount, 'repositories'> {
  const risks = unread.map((what) => ({ branch: null, why: `could not be observed: ${what}` }));
  const verdict = worstOf(
    unread.length === 0 ? 'clean' : 'unpushed',
    repositories.map((one) => one.verdict),
  );
  return { verdict, risks, repositories };
}

async function assessRepository(
  context: Context,
  root: Directory,
  seenRepository: SeenRepository,
  seen: CapturedMount,
  base: ObjectId | null,
): Promise<{ readonly repository: AssessedRepository; readonly files: readonly FileChange[] }> {
  const { path, state } = seenRepository;
  const found = await atRepository(root, path, async (directory, kind) => ({
    work: await context.repositories.readWork(directory, kind),
    uncommitted: await uncommittedIn(seenRepository, directory, seen),
  }));
  if (found === undefined)
    return { repository: { path, work: null, base, ...unobservable('its .git cannot be opened') }, files: [] };
  const { work, uncommitted } = found;
  const { files, dirty } = uncommitted;
  const known = { ...work, unknown: [...new Set([...work.unknown, ...state.unknown, ...uncommitted.unknown])] };
  return { repository: { path, work: known, base, ...judgeRepository(known, dirty, base) }, files };
}
