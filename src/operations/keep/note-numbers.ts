import { type InstanceName, type Seq, isInstanceName, toSeq } from '../../core/ids.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { raiseLastSeq } from '../last-seq.js';
import { manySnapshots } from './after-save.js';

const prefix = 'refs/jackin/';

/**
 * Notes the highest number of each instance as used, before its ref moves into the file of all refs: numbers that are lost
 * with that file are not used again. Of an instance with many snapshots the number also tells retention when it last
 * looked, at most fifty before: that stays. The caller holds the store's exclusive lock.
 */
export function noteHighestNumbers({ store, registry }: Context): void {
  for (const [instance, numbers] of numbersIn(store.refNames(prefix))) {
    if (numbers.length > manySnapshots) continue;
    const highest = numbers.reduce((a, b) => (a > b ? a : b));
    try {
      raiseLastSeq(registry, instance, highest);
    } catch (error) {
      // A number that cannot be read is never used anew; and what makes room must go on without any.
      if (!isSnapError(error, 'CONFIGURATION_INVALID') && !isSnapError(error, 'NO_SPACE')) throw error;
    }
  }
}

function numbersIn(names: readonly string[]): Map<InstanceName, Seq[]> {
  const found = new Map<InstanceName, Seq[]>();
  for (const name of names) {
    const [instance = '', number = '', ...more] = name.slice(prefix.length).split('/');
    const seq = toSeq(number);
    if (seq === undefined || more.length > 0 || !isInstanceName(instance)) continue;
    const numbers = found.get(instance);
    if (numbers === undefined) found.set(instance, [seq]);
    else numbers.push(seq);
  }
  return found;
}
