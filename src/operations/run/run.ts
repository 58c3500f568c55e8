import { activeOwner } from '../../core/activity.js';
import { commandText } from '../../core/command-text.js';
import type { InstanceName } from '../../core/ids.js';
import type { MountRecord } from '../../core/instance-record.js';
import type { SnapshotLevel } from '../../core/policy.js';
import type { RunRequest } from '../../core/requests.js';
import type { SaveResult, SnapshotPointer } from '../../core/results.js';
import type { RunResult } from '../../core/run-results.js';
import { SnapError, isSnapError, isTold, systemCode, wordsOf } from '../../errors.js';
import type { Context } from '../context.js';
import { lostStore } from '../lost-store.js';
import { save } from '../save.js';
import { derivedName } from '../session/choose-instance.js';
import { instanceForSave } from '../session/instance-for-save.js';
import { markActive } from '../session/instances.js';
import { compareSnapshots } from './compare-snapshots.js';
import { movedHeads } from './moved-heads.js';
import { blockedBy, placesOf } from './places.js';
import { type Watched, compareWatched, lookAtWatched } from './watched.js';

/** Runs a command on the terminal; the exit code that a shell would report. */
export type StartCommand = (command: RunRequest['command']) => Promise<number>;

/**
 * A snapshot, the command, a snapshot; the instance is active meanwhile. What the command returns is passed on,
 * whatever becomes of the second snapshot. A partial snapshot is one: the command is run. Where the instance is to have
 * no snapshots, the command is all there is, and that is said.
 * @param undisturbed the same context, deaf to signals: what follows the command is done although one ended it
 * @throws SnapError COMMAND_NOT_STARTED, INSTANCE_ACTIVE, and all that `save` throws unless `onSaveFailure` is `warn`
 */
export async function run(
  context: Context,
  undisturbed: Context,
  request: RunRequest,
  start: StartCommand,
): Promise<EndedRun> {
  refuseActive(context, request);
  const { before, instance, level, messages } = await saveBefore(context, request);
  const inInstance: Context = { ...undisturbed, instance };
  const mounts = context.registry.find(instance)?.mounts ?? [];
  const watched = await lookAtWatched(context, mounts);
  const places = placesOf(context, mounts);
  const force = request.force ?? false;
  const notCleared: string[] = [];
  const exitCode = await whileActive(inInstance, instance, { force, notCleared }, () => {
    context.interruption.check();
    return start(request.command);
  });
  const ran = { before, mounts, watched, exitCode };
  const { saved, ...rest } = level === 'off' ? nothingSaved : await afterCommand(inInstance, request, ran);
  const blocked = blockedBy(context, instance, places);
  const began = { instance, exitCode, snapshotLevel: level, before: pointerOf(before), blocked };
  const result = { ...began, ...rest, worktree: null, exitDecision: null };
  return { result: { ...result, messages: [...messages, ...notCleared, ...rest.messages] }, saved };
}

export interface EndedRun {
  readonly result: RunResult;
  /** The snapshot after the command, if it could be made. */
  readonly saved: SaveResult | null;
}

/** Before anything is written, where it is known already. */
function refuseActive(context: Context, request: RunRequest): void {
  if (request.force === true) return;
  const name = orUndefined(() => instanceForSave(context, {}))?.record.name;
  const owner = name === undefined ? null : activeOwner(context.registry.readActivity(name), context.processes);
  if (name !== undefined && owner !== null) throw alreadyActive(name, owner);
}

interface Begun {
  readonly before: SaveResult | null;
  readonly instance: InstanceName;
  readonly level: SnapshotLevel;
  readonly messages: readonly string[];
}

async function saveBefore(context: Context, request: RunRequest): Promise<Begun> {
  try {
    const message = `Before ${commandText(request.command)}`;
    const lost = lostStore(context);
    const before = await save(context, { trigger: 'run_start', message });
    const { instance } = before.snapshot;
    const level = levelOf(context, instance);
    const said = level === 'metadata' ? await sayBefore(request, withoutFiles(instance)) : [];
    return {
      before,
      instance,
      level,
      messages: [...partialNotes(before, 'before'), ...said, ...(lost === null ? [] : [lost])],
    };
  } catch (error) {
    if (isSnapError(error, 'SNAPSHOTS_OFF')) {
      const instance = error.data.instance as InstanceName;
      return { before: null, instance, level: 'off', messages: await sayBefore(request, withoutSnapshots(instance)) };
    }
    const isOurs = isSnapError(error) || systemCode(error) !== undefined;
    if (!isOurs || isSnapError(error, 'INTERRUPTED')) throw error;
    const { message } = error as Error;
    if (request.onSaveFailure !== 'warn') throw isSnapError(error) ? notStarted(error) : error;
    const said = `No snapshot was made before the command, which runs all the same: ${message}`;
    const instance = nameOf(context);
    return { before: null, instance, level: levelOf(context, instance), messages: await sayBefore(request, said) };
  }
}

function levelOf({ registry }: Context, instance: InstanceName): SnapshotLevel {
  return registry.find(instance)?.policy.snapshot ?? 'project';
}

/** What has to be said before the command starts; it is one of the messages where nobody listens. */
export async function sayBefore({ onWarning }: RunRequest, said: string): Promise<string[]> {
  if (onWarning === undefined) return [said];
  await onWarning(said);
  return [];
}

function withoutSnapshots(instance: InstanceName): string {
  return `No snapshot is made before or after the command: instance ${instance} has snapshot=off.`;
}

function withoutFiles(instance: InstanceName): string {
  return `Snapshots hold no content of files: instance ${instance} has snapshot=metadata. What the command changes cannot be taken back.`;
}

function notStarted(error: SnapError): SnapError {
  const message = `${error.message} The command was not started, since there is no snapshot to go back to.`;
  return new SnapError(error.code, message, error.data, { cause: error });
}

function nameOf(context: Context): InstanceName {
  const found = orUndefined(() => instanceForSave(context, {}))?.record.name;
  const here = context.host.realPath(context.host.cwd) ?? context.host.cwd;
  return found ?? context.instance ?? derivedName(context, here);
}

interface Ran {
  readonly before: SaveResult | null;
  readonly mounts: readonly MountRecord[];
  readonly watched: Watched;
  readonly exitCode: number;
}

type Ended = Pick<RunResult, 'after' | 'changes' | 'complete' | 'messages'> & Pick<EndedRun, 'saved'>;

const nothingSaved: Ended = { saved: null, after: null, changes: null, complete: false, messages: [] };

/** Whatever fails here is said, and hides nothing of what the command returned. */
async function afterCommand(context: Context, request: RunRequest, ran: Ran): Promise<Ended> {
  let after: SaveResult;
  try {
    const message = `After ${commandText(request.command)} (exit ${String(ran.exitCode)})`;
    after = await save(context, { trigger: 'post_step', message });
  } catch (error) {
    const said = `The snapshot after the command could not be made: ${wordsOf(error)}`;
    return { saved: null, after: null, changes: null, complete: false, messages: [said] };
  }
  const complete = (ran.before?.complete ?? false) && after.complete;
  const messages = [...partialNotes(after, 'after'), ...movedHeads(ran.before?.mounts ?? [], after.mounts)];
  const ended = { saved: after, after: pointerOf(after), complete, messages };
  if (ran.before === null) return { ...ended, changes: null };
  try {
    const watched = compareWatched(ran.watched, await lookAtWatched(context, ran.mounts));
    return { ...ended, changes: await compareSnapshots(context, ran.before.snapshot, after, watched) };
  } catch (error) {
    const said = `What the command changed could not be made out: ${wordsOf(error)}`;
    return { ...ended, changes: null, messages: [...ended.messages, said] };
  }
}

function partialNotes({ complete, snapshot: { seq } }: SaveResult, which: 'before' | 'after'): string[] {
  return complete ? [] : [`Snapshot ${String(seq)}, ${which} the command, is partial: some paths could not be read.`];
}

async function whileActive(
  context: Context,
  instance: InstanceName,
  { force, notCleared }: { readonly force: boolean; readonly notCleared: string[] },
  act: () => Promise<number>,
): Promise<number> {
  const mark = await becomeActive(context, instance, force);
  try {
    return await act();
  } finally {
    if (mark !== undefined) notCleared.push(...clearMark(context, instance, mark));
  }
}

/** Somebody else's mark is theirs to clear. @returns why it stays, which keeps back nothing of what came of the command */
function clearMark({ registry }: Context, instance: InstanceName, mark: string): string[] {
  try {
    if (registry.readActivity(instance) === mark) registry.clearActivity(instance);
    return [];
  } catch (error) {
    if (!isTold(error)) throw error;
    return [
      `Instance ${instance} is active until this process ends, since its mark cannot be removed: ${error.message}`,
    ];
  }
}

/** Looks and marks in one, under the instance's lock. Undefined for an instance of which no snapshot could be made. */
async function becomeActive(context: Context, instance: InstanceName, force: boolean): Promise<string | undefined> {
  const lock = await context.locks.instance(instance);
  try {
    const record = context.registry.find(instance);
    if (record === undefined) return undefined;
    const owner = activeOwner(context.registry.readActivity(instance), context.processes);
    if (owner !== null && !force) throw alreadyActive(instance, owner);
    return markActive(context, record, context.pid, 'run');
  } finally {
    lock.release();
  }
}

function alreadyActive(instance: InstanceName, owner: string): SnapError<'INSTANCE_ACTIVE'> {
  return new SnapError('INSTANCE_ACTIVE', `Instance ${instance} is active already (${owner}).`, { instance, owner });
}

function orUndefined<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function pointerOf(saved: SaveResult): SnapshotPointer;
function pointerOf(saved: SaveResult | null): SnapshotPointer | null;
function pointerOf(saved: SaveResult | null): SnapshotPointer | null {
  if (saved === null) return null;
  const { instance, seq, id, ref } = saved.snapshot;
  return { instance, seq, id, ref };
}
