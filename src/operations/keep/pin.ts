import type { SnapshotPointer } from '../../core/results.js';
import { pinRefName } from '../../core/snapshot-record.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { chooseInstance } from '../session/choose-instance.js';
import { know, pointerTo, refuseRemoved, resolveSnapshot } from '../snapshots.js';

/** Pins a snapshot, so that no retention removes it, or takes the pin away. Doing it again changes nothing. */
export async function setPin(context: Context, selector: string, pinned: boolean): Promise<SnapshotPointer> {
  const { ref } = await resolveSnapshot(context, selector, () => chooseInstance(context));
  const pointer = pointerTo(know(ref));
  const locks = await lockForSnapshot(context, ref.instance);
  try {
    await refuseRemoved(context, ref);
    const name = pinRefName(ref.instance, ref.seq);
    const [present] = await context.store.refs(name);
    if (pinned && present === undefined) await context.store.changeRefs([{ name, old: null, new: ref.commit }]);
    if (!pinned && present !== undefined) await context.store.changeRefs([{ name, old: present.oid, new: null }]);
    return pointer;
  } finally {
    locks.release();
  }
}
