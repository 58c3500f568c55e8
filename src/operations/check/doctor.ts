import { displayPath } from '../../core/entry-path.js';
import { type InstanceName, zeroObjectId } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { DoctorFinding, DoctorResult } from '../../core/results.js';
import { isSnapError, isTold } from '../../errors.js';
import type { Context } from '../context.js';
import { readPending } from '../restore/pending.js';
import { lostStore } from '../lost-store.js';
import { leftByDrills } from './drill-folder.js';
import { lostPinned } from './lost-pinned.js';
import { mend } from './mend.js';
import { liesIn } from '../session/folders.js';
import { standsForTooMuch } from '../snapshot-content.js';
import { knowIfReadable } from '../snapshots.js';

/** Looks at everything that could stand in the way, and says what to do about it. Changes nothing without `fix`. */
export async function doctor(context: Context, { fix = false }: { readonly fix?: boolean }): Promise<DoctorResult> {
  const findings: DoctorFinding[] = fix ? await mend(context) : [];
  const look = async (check: () => Promise<DoctorFinding[]> | DoctorFinding[]): Promise<void> => {
    try {
      findings.push(...(await check()));
    } catch (error) {
      if (!isTold(error)) throw error;
      findings.push({
        level: 'problem',
        isDamage: isSnapError(error, 'STORE_DAMAGED'),
        what: error.message,
        hint: null,
      });
    }
  };
  await look(() => gitVersion(context));
  await look(() => lockState(context));
  await look(() => remains(context));
  await look(() => pending(context));
  await look(() => damagedInstances(context));
  await look(() => mounts(context));
  await look(() => snapshots(context, fix));
  return {
    ok: findings.every(({ level }) => level !== 'problem'),
    damaged: findings.some(({ isDamage = false }) => isDamage),
    findings,
  };
}

async function gitVersion(context: Context): Promise<DoctorFinding[]> {
  return [{ level: 'ok', what: `git ${await context.store.gitVersion()}`, hint: null }];
}

async function lockState(context: Context): Promise<DoctorFinding[]> {
  const lost = lostStore(context);
  if (lost !== null) return [damage(lost, 'put store.git back from a copy; without one, a save begins anew')];
  if (!context.store.exists())
    return [{ level: 'note', what: 'There is no store yet: the first save makes it.', hint: 'jackin-snap save' }];
  try {
    (await context.locks.storeShared(0)).release();
    return [{ level: 'ok', what: 'The store is not locked.', hint: null }];
  } catch (error) {
    if (!isSnapError(error, 'BUSY')) throw error;
    return [{ level: 'note', what: error.message, hint: null }];
  }
}

/** What a later command, or `fix`, puts right. */
function remains(context: Context): DoctorFinding[] {
  const { store } = context;
  const missing = store
    .missingParts()
    .map((name) => `${name === '' ? 'The store' : name} is missing or not as it is to be.`);
  const left = store.exists() && store.hasLeftovers() ? ['Something of a process that was killed is left.'] : [];
  const drills = leftByDrills(context).map((folder) => `A drill that was killed may have left ${folder}.`);
  return [...missing, ...left, ...drills].map((what) => ({ level: 'note', what, hint: 'jackin-snap doctor --fix' }));
}

function pending(context: Context): DoctorFinding[] {
  return context.journals.pending().flatMap((instance) => pendingOf(context, instance));
}

function pendingOf(context: Context, instance: InstanceName): DoctorFinding[] {
  try {
    const restore = readPending(context, instance);
    if (restore === undefined) return [];
    const { snapshot } = restore.begin;
    const what = `A restore of snapshot ${snapshot.instance}/${String(snapshot.seq)} was interrupted.`;
    return [{ level: 'problem', what, hint: `jackin-snap -i ${instance} recover --continue` }];
  } catch (error) {
    if (!isSnapError(error, 'JOURNAL_DAMAGED')) throw error;
    const what = `${error.message} What was there before it is in the last emergency snapshot.`;
    return [damage(what, `remove that file, then: jackin-snap -i ${instance} undo`)];
  }
}

function damagedInstances(context: Context): DoctorFinding[] {
  return context.registry
    .damaged()
    .map(({ name, problem }) =>
      damage(
        `Instance ${name} is damaged; its snapshots are kept. ${problem}`,
        `jackin-snap -i ${name} restore latest --to DIR`,
      ),
    );
}

function mounts(context: Context): DoctorFinding[] {
  return context.registry.all().flatMap((record) => mountFindings(context, record));
}

function mountFindings(context: Context, record: InstanceRecord): DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  for (const { name, path } of record.mounts) {
    const where = `${displayPath(path)} (mount ${name} of ${record.name})`;
    if (context.host.identity(path) === undefined) {
      findings.push({
        level: 'note',
        what: `${where} is gone; its snapshots are kept.`,
        hint: `jackin-snap -i ${record.name} restore latest --to DIR`,
      });
    } else if (liesIn(context, context.host.dataDirectory, path)) {
      findings.push({ level: 'note', what: `The data directory lies in ${where}; it is always left out.`, hint: null });
    }
  }
  return findings;
}

async function snapshots(context: Context, fixed: boolean): Promise<DoctorFinding[]> {
  const refs = context.store.exists() ? await context.store.snapshots(null) : [];
  const broken = await context.store.brokenSnapshots(refs.map(({ commit }) => commit));
  const oversized = await context.store.oversizedSnapshots([...broken]);
  const findings = refs.flatMap((ref): DoctorFinding[] => {
    const why = oversized.has(ref.commit) ? standsForTooMuch : whyUnsound(ref, broken);
    const hint = why === 'misses objects' ? 'jackin-snap verify --full' : null;
    return why === null ? [] : [damage(`Snapshot ${ref.instance}/${String(ref.seq)} ${why}.`, hint)];
  });
  return [
    ...findings,
    ...(await brokenRefs(context)),
    ...(await lostSnapshots(context)),
    ...damagedContent(context, fixed),
    {
      level: 'ok',
      what: `Snapshots: ${String(refs.length)}, instances: ${String(new Set(refs.map(({ instance }) => instance)).size)}.`,
      hint: null,
    },
  ];
}

function whyUnsound(ref: SnapshotRef, broken: ReadonlySet<string>): string | null {
  // What is no ref at all is named with the others of its kind.
  if (ref.commit === zeroObjectId) return null;
  if (broken.has(ref.commit)) return 'misses objects';
  return knowIfReadable(ref) === undefined ? 'cannot be read by this version' : null;
}

function damagedContent({ store }: Context, fixed: boolean): DoctorFinding[] {
  const noted = store.notedDamage().length;
  if (noted === 0) return [];
  const found = `A check of the content found damaged objects (${String(noted)})`;
  const [what, hint] = fixed
    ? [`${found}; what could be read of the folders does not have them.`, 'jackin-snap verify --full']
    : [`${found}. Where the folders still have it, it can be stored again.`, 'jackin-snap doctor --fix'];
  return [damage(what, hint)];
}

async function lostSnapshots(context: Context): Promise<DoctorFinding[]> {
  return (await lostPinned(context)).map(({ pin, ref: { instance, seq } }) =>
    damage(
      `Snapshot ${instance}/${String(seq)} is pinned (${pin}) and has no ref: it was lost.`,
      'jackin-snap doctor --fix',
    ),
  );
}

/** What git passes over: names of snapshots, pins and grafts that lead nowhere. */
async function brokenRefs(context: Context): Promise<DoctorFinding[]> {
  const names = await context.store.unreadableRefs('refs/');
  const lines = names.map((name) => `${displayPath(name)} is no ref that git can read: the file is empty or damaged.`);
  const all = [
    ...(context.store.exists() ? context.store.packedRefsProblems().map((problem) => `${problem}.`) : []),
    ...lines,
  ];
  return all.map((what) => damage(what, 'jackin-snap doctor --fix'));
}

function damage(what: string, hint: string | null): DoctorFinding {
  return { level: 'problem', isDamage: true, what, hint };
}
