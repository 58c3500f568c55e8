import { displayPath } from '../../core/entry-path.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { DoctorFinding, DoctorResult } from '../../core/results.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { pendingRestores } from '../restore/recover.js';
import { contains } from '../session/choose-instance.js';
import { knowIfReadable } from '../snapshots.js';

/** Looks at everything that could stand in the way, and says what to do about it. Changes nothing. */
export async function doctor(context: Context): Promise<DoctorResult> {
  const findings: DoctorFinding[] = [];
  const look = async (check: () => Promise<DoctorFinding[]> | DoctorFinding[]): Promise<void> => {
    try {
      findings.push(...(await check()));
    } catch (error) {
      if (!isSnapError(error)) throw error;
      findings.push({ level: 'problem', what: error.message, hint: null });
    }
  };
  await look(() => gitVersion(context));
  await look(() => lockState(context));
  await look(() => pending(context));
  await look(() => mounts(context));
  await look(() => snapshots(context));
  return { ok: findings.every(({ level }) => level !== 'problem'), findings };
}

async function gitVersion(context: Context): Promise<DoctorFinding[]> {
  return [{ level: 'ok', what: `git ${await context.store.gitVersion()}`, hint: null }];
}

async function lockState(context: Context): Promise<DoctorFinding[]> {
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

function pending(context: Context): DoctorFinding[] {
  return pendingRestores(context).map(({ instance, snapshot }) => ({
    level: 'problem',
    what: `A restore of snapshot ${snapshot.instance}/${String(snapshot.seq)} was interrupted.`,
    hint: `jackin-snap -i ${instance} recover --continue`,
  }));
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
    } else if (contains(path, context.host.dataDirectory)) {
      findings.push({ level: 'note', what: `The data directory lies in ${where}; it is always left out.`, hint: null });
    }
  }
  return findings;
}

async function snapshots(context: Context): Promise<DoctorFinding[]> {
  const refs = context.store.exists() ? await context.store.snapshots(null) : [];
  const broken = await context.store.brokenSnapshots(refs.map(({ commit }) => commit));
  const findings: DoctorFinding[] = [];
  for (const ref of refs) {
    const name = `${ref.instance}/${String(ref.seq)}`;
    if (broken.has(ref.commit))
      findings.push({ level: 'problem', what: `Snapshot ${name} misses objects.`, hint: 'jackin-snap verify --full' });
    else if (knowIfReadable(ref) === undefined)
      findings.push({ level: 'problem', what: `Snapshot ${name} cannot be read by this version.`, hint: null });
  }
  return [
    ...findings,
    {
      level: 'ok',
      what: `Snapshots: ${String(refs.length)}, instances: ${String(new Set(refs.map(({ instance }) => instance)).size)}.`,
      hint: null,
    },
  ];
}
