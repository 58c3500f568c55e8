import { displayPath } from '../../core/entry-path.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { withOverrides } from '../../core/policy.js';
import type { PlanRequest, SaveRequest } from '../../core/requests.js';
import type { PlanResult, PlannedSaveMount, Refusal } from '../../core/plan-result.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readPendingOr } from '../restore/pending.js';
import { activeOverlaps } from '../restore/guards.js';
import { instanceForSave, refuseOtherSnapshots } from '../session/instance-for-save.js';
import { newSession } from '../session/new-session.js';
import { lookAtMounts } from './look-at-mounts.js';
import { foreseeRestores } from './foresee-restores.js';

/**
 * What a session would get: whether a save would make a snapshot, of what and under which rules, and what restores of
 * those that are there would do. Nothing is written, not even a lock: what others do meanwhile may change the answer.
 * What stands in the way of a save is part of the answer, not a failure.
 */
export async function plan(context: Context, request: PlanRequest): Promise<PlanResult> {
  const store = await storeOf(context);
  const chosen = await orRefusal(() => instancePlanned(context, request));
  if ('code' in chosen) return { ...nothingPlanned, ...namedInstance(context), store, refusal: chosen };
  const { record, isNew } = chosen;
  const looked = await orRefusal(() => look(context, record, request));
  const mounts = 'code' in looked ? [] : looked.mounts;
  const messages = 'code' in looked ? [] : [...looked.messages];
  const refusal = 'code' in looked ? looked : ((await programRefusal(context)) ?? limitRefusal(record, mounts));
  const restores = isNew ? { restores: [], messages: [] } : await foreseeRestores(context, record);
  messages.push(...spaceMessages(store, mounts), ...(await stateMessages(context, record)), ...restores.messages);
  return {
    instance: record.name,
    isNew,
    refusal,
    policy: withOverrides(record.policy, request.overrides ?? {}),
    mounts,
    store,
    restores: restores.restores,
    messages,
  };
}

/** The one that a save would be for, or what would refuse it. */
async function instancePlanned(context: Context, request: PlanRequest): Promise<ReturnType<typeof instanceForSave>> {
  const chosen = instanceForSave(context, request, await newSession(context, request));
  const last = context.store.exists() ? await context.store.snapshots(chosen.record.name, 1) : [];
  refuseOtherSnapshots(request, chosen, last.at(-1));
  return chosen;
}

const nothingPlanned = {
  instance: null,
  isNew: false,
  policy: null,
  mounts: [],
  restores: [],
  messages: [],
} as const;

function namedInstance(context: Context): Pick<PlanResult, 'instance'> {
  return { instance: context.instance };
}

async function look(
  context: Context,
  record: InstanceRecord,
  request: SaveRequest,
): Promise<{ readonly mounts: readonly PlannedSaveMount[]; readonly messages: readonly string[] }> {
  return lookAtMounts(context, record, withOverrides(record.policy, request.overrides ?? {}));
}

/** What a save would fail with. Failures that say nothing of the folder or its settings go up. */
async function orRefusal<Answer extends object>(act: () => Promise<Answer>): Promise<Answer | Refusal> {
  try {
    return await act();
  } catch (error) {
    if (!isSnapError(error) || unforeseen.has(error.code)) throw error;
    return { code: error.code, message: error.message };
  }
}

const unforeseen: ReadonlySet<string> = new Set(['INTERNAL', 'INTERRUPTED', 'SYSTEM_FAILED', 'DATA_DIR_DENIED']);

/** Without git no snapshot is made. */
async function programRefusal(context: Context): Promise<Refusal | null> {
  const version = await orRefusal(async () => ({ version: await context.store.gitVersion() }));
  return 'code' in version ? version : null;
}

function limitRefusal(record: InstanceRecord, mounts: readonly PlannedSaveMount[]): Refusal | null {
  if (record.policy.on_limit === 'skip') return null;
  const over = mounts.flatMap(({ leftOut }) => leftOut.filter(({ reason }) => reason === 'too_large'));
  if (over.length === 0) return null;
  return {
    code: 'LIMIT_EXCEEDED',
    message: 'A file is over the size limit, and on_limit=fail: nothing would be saved.',
  };
}

async function storeOf(context: Context): Promise<PlanResult['store']> {
  const { host, store } = context;
  const path = host.dataDirectory;
  let at = path;
  while (at !== '/' && host.identity(at) === undefined) at = (at.slice(0, at.lastIndexOf('/')) || '/') as typeof at;
  return {
    dataDirectory: path,
    exists: store.exists(),
    sizeBytes: store.exists() ? await store.sizeOnDisk() : 0,
    freeBytes: host.freeBytes(at),
  };
}

function spaceMessages(
  { freeBytes, dataDirectory }: PlanResult['store'],
  mounts: readonly PlannedSaveMount[],
): string[] {
  const needed = mounts.reduce((sum, { toRead }) => sum + toRead.bytes, 0);
  if (needed <= freeBytes) return [];
  return [
    `What would be read is more than what is free below ${displayPath(dataDirectory)}: there may be no space for it.`,
  ];
}

async function stateMessages(context: Context, record: InstanceRecord): Promise<string[]> {
  const messages: string[] = [];
  const active = await activeOverlaps(
    context,
    record.mounts.map(({ path }) => ({ folder: path, paths: null })),
  );
  for (const { instance, owner } of active)
    messages.push(`Instance ${instance} is active (${owner}): restores are refused.`);
  if (readPendingOr(context, record.name, 'damaged') !== undefined)
    messages.push('A restore was interrupted and is pending: other restores are refused until it is ended.');
  return messages;
}
