import type { ObjectId } from '../../core/ids.js';
import type { Change } from '../../core/restore-plan.js';

/** As many objects are asked for together: enough to keep the one who reads them at work. */
const expectedTogether = 512;

/** The same in pieces of which the objects are asked for together. */
export function* inTurns<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += expectedTogether) yield all.slice(at, at + expectedTogether);
}

/** The objects that making these changes will read, in this order, unless something is made already. */
export function objectsFor(changes: readonly Change[]): ObjectId[] {
  return changes.flatMap(({ action, path, after }) => {
    if (action === 'chmod' || after === null || after.kind === 'directory') return [];
    const isLink = after.linkedTo !== undefined && after.linkedTo !== path;
    return isLink ? [] : [after.oid];
  });
}
