import type { RunRequest } from '../core/requests.js';
import type { RunResult, SaveResult, SnapshotPointer } from '../core/results.js';
import type { InstanceName } from '../core/ids.js';
import { activeOwner } from '../core/activity.js';
import { SnapError, isSnapError } from '../errors.js';
import type { Context } from './context.js';
import { save } from './save.js';
import { markActive } from './session/instances.js';

/** Runs a command on the terminal; the exit code that a shell would report. */
export type StartCommand = (command: RunRequest['command']) => Promise<number>;

/**
 * A snapshot, the command, a snapshot; the instance is active meanwhile. What the command returns is passed on,
 * whatever becomes of the second snapshot.
 * @param undisturbed the same context, deaf to signals: what follows the command is done although one ended it
 */
export async function run(
  context: Context,
  undisturbed: Context,
  request: RunRequest,
  start: StartCommand,
): Promise<RunResult> {
  const before = await save(context, { trigger: 'run_start', message: `Before ${request.command.join(' ')}` });
  const instance = before.snapshot.instance;
  const inInstance: Context = { ...undisturbed, instance };
  const exitCode = await whileActive(inInstance, instance, request.force ?? false, () => start(request.command));
  const result = { instance, exitCode, before: pointer(before) };
  try {
    const after = await save(inInstance, {
      trigger: 'post_step',
      message: `After ${request.command.join(' ')} (exit ${String(exitCode)})`,
    });
    const changes = await countChanges(undisturbed, before, after);
    return { ...result, after: pointer(after), changes, complete: before.complete && after.complete, messages: [] };
  } catch (error) {
    if (!isSnapError(error)) throw error;
    const messages = [`The snapshot after the command could not be made: ${error.message}`];
    return { ...result, after: null, changes: { added: 0, modified: 0, deleted: 0 }, complete: false, messages };
  }
}

async function whileActive(
  context: Context,
  instance: InstanceName,
  force: boolean,
  act: () => Promise<number>,
): Promise<number> {
  const mark = await becomeActive(context, instance, force);
  try {
    return await act();
  } finally {
    // Somebody else's mark is theirs to clear.
    if (context.registry.readActivity(instance) === mark) context.registry.clearActivity(instance);
  }
}

/** Looks and marks in one, under the instance's lock. */
async function becomeActive(context: Context, instance: InstanceName, force: boolean): Promise<string> {
  const lock = await context.locks.instance(instance);
  try {
    const record = context.registry.find(instance);
    if (record === undefined)
      throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
    const owner = activeOwner(context.registry.readActivity(instance), context.processes);
    if (owner !== null && !force) {
      throw new SnapError('INSTANCE_ACTIVE', `Instance ${instance} is active already (${owner}).`, { instance, owner });
    }
    return markActive(context, record, context.pid);
  } finally {
    lock.release();
  }
}

function pointer({ snapshot: { instance, seq, id, ref } }: SaveResult): SnapshotPointer {
  return { instance, seq, id, ref };
}

async function countChanges(context: Context, before: SaveResult, after: SaveResult): Promise<RunResult['changes']> {
  const chunks: Uint8Array[] = [];
  const trees = [before, after].map(({ snapshot }) => `${snapshot.commit}:mounts`) as [string, string];
  await context.store.diff(...trees, {
    options: ['--name-status', '-z', '--no-renames'],
    paths: [],
    output: { kind: 'collect', onData: (chunk) => chunks.push(chunk) },
  });
  const letters = Buffer.concat(chunks)
    .toString('latin1')
    .split('\0')
    .filter((_, at) => at % 2 === 0);
  const count = (letter: string): number => letters.filter((found) => found === letter).length;
  return { added: count('A'), modified: count('M') + count('T'), deleted: count('D') };
}
