import { type InstanceName, type Seq, isInstanceName, toSeq } from '../../core/ids.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';

const prefix = 'refs/jackin/';

/**
 * Notes the highest number of each instance as used, before its ref moves into the file of all refs: numbers that are lost
 * with that file are not used again. The caller holds the store's exclusive lock.
 */
export function noteHighestNumbers({ store, registry }: Context): void {
  for (const [instance, highest] of highestNumbers(store.refNames(prefix))) {
    try {
      if (highest > (registry.lastSeq(instance) ?? 0)) registry.recordLastSeq(instance, highest);
    } catch (error) {
      // A number that cannot be read is never used anew; and what makes room must go on without any.
      if (!isSnapError(error, 'CONFIGURATION_INVALID') && !isSnapError(error, 'NO_SPACE')) throw error;
    }
  }
}

function highestNumbers(names: readonly string[]): Map<InstanceName, Seq> {
  const highest = new Map<InstanceName, Seq>();
  for (const name of names) {
    const [instance = '', number = '', ...more] = name.slice(prefix.length).split('/');
    const seq = toSeq(number);
    if (seq === undefined || more.length > 0 || !isInstanceName(instance)) continue;
    if (seq > (highest.get(instance) ?? 0)) highest.set(instance, seq);
  }
  return highest;
}
