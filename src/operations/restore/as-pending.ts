import type { InstanceName } from '../../core/ids.js';
import { SnapError, isNodesOwn, isSnapError, reworded, systemCode } from '../../errors.js';

/** What ended the work of a restore early, with the word that it is pending now. */
export function asPending(cause: unknown, instance: InstanceName): unknown {
  const pending = 'the restore was interrupted and is pending.';
  if (isSnapError(cause, 'INTERRUPTED')) {
    const { signal } = cause.data;
    const message = `Interrupted by ${signal}: the restore is pending.`;
    return new SnapError('INTERRUPTED', message, { signal, pending: instance }, { cause });
  }
  const code = systemCode(cause);
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'NO_SPACE')
    return new SnapError('NO_SPACE', `There is no space left: ${pending}`, { path: '', pending: instance }, { cause });
  if (isSnapError(cause)) return reworded(cause, `${cause.message} The restore was interrupted and is pending.`);
  if (code === undefined || isNodesOwn(code)) return cause;
  const message = `The system failed (${(cause as Error).message}): ${pending}`;
  return new SnapError('SYSTEM_FAILED', message, { problem: code, pending: instance }, { cause });
}
