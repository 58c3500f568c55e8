import type { Policy } from '../../core/policy.js';
import type { LargeDeletion, RestoreRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import type { PlannedMount } from './plan-mounts.js';

/** Up to so many files are what somebody may well have made since a snapshot, however little the mount holds. */
const fewFiles = 100;

/** The mounts of which a plan deletes so much that the wrong snapshot may have been named. */
export function largeDeletions(planned: readonly PlannedMount[], policy: Policy): LargeDeletion[] {
  return planned.flatMap(({ name, live, newFilesDeleted: deleted }) => {
    const held = live.captured.stats.filesStored;
    const isLarge = deleted > fewFiles && deleted * 100 > held * policy.large_deletion_percent;
    return isLarge ? [{ mount: name, deleted, held }] : [];
  });
}

export function largeDeletionMessage({ mount, deleted, held }: LargeDeletion): string {
  return `It deletes ${String(deleted)} of the ${String(held)} files in mount ${mount}.`;
}

/**
 * Beside the consent to a plan: so much is only deleted where that very thing was agreed to.
 * @throws SnapError LARGE_DELETION when nobody was asked, DECLINED
 */
export async function refuseLargeDeletions(
  large: readonly LargeDeletion[],
  { allowLarge, confirmLarge }: Pick<RestoreRequest, 'allowLarge' | 'confirmLarge'>,
): Promise<void> {
  const [first] = large;
  if (first === undefined || allowLarge === true) return;
  if (confirmLarge === undefined) {
    const { mount, deleted, held } = first;
    throw new SnapError(
      'LARGE_DELETION',
      `The restore would delete ${String(deleted)} of the ${String(held)} files in mount ${mount}: nothing was changed.`,
      first,
    );
  }
  if (!(await confirmLarge(large)))
    throw new SnapError('DECLINED', 'The restore was declined: nothing changed.', { what: 'restore' });
}
