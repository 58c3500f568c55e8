import type { MountSummary } from '../../core/results.js';

/** Says where the repository of a mount is not as it was: a restore of files leaves it so. */
export function movedHeads(before: readonly MountSummary[], after: readonly MountSummary[]): string[] {
  return after.flatMap((now) => {
    const then = before.find(({ name }) => name === now.name);
    if (then === undefined || isWithout(then) || isSame(then, now)) return [];
    if (isWithout(now)) return [`The repository of ${now.name} cannot be made out any more: ${spell(then)} before.`];
    return [`HEAD of ${now.name} moved: ${spell(then)} before, ${spell(now)} now. A restore of files leaves it there.`];
  });
}

type Head = Pick<MountSummary, 'baseCommit' | 'branch'>;

function isWithout({ baseCommit, branch }: Head): boolean {
  return baseCommit === null && branch === null;
}

function isSame(one: Head, other: Head): boolean {
  return one.baseCommit === other.baseCommit && one.branch === other.branch;
}

function spell({ baseCommit, branch }: Head): string {
  return `${branch ?? 'detached'} at ${baseCommit?.slice(0, 12) ?? 'no commit'}`;
}
