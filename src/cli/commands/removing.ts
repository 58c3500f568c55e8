import type { RemovalResult, SnapshotPointer } from '../../index.js';
import type { Context, Outcome } from '../session.js';

/** Asks before snapshots go: on the terminal, or beforehand with `--yes`. */
export function confirmRemoval(
  what: 'delete' | 'prune',
  yes: boolean,
  { surroundings, stopProgress }: Context,
): (snapshots: readonly SnapshotPointer[]) => Promise<boolean> {
  return async (snapshots) => {
    stopProgress();
    if (snapshots.length === 0) return true;
    const [{ agreeTo }, { numbersText }] = await Promise.all([
      import('../confirm.js'),
      import('../views/text-check.js'),
    ]);
    const of = snapshots[0]?.instance ?? '';
    return agreeTo(`remove ${numbersText(snapshots)} of ${of} for good`, { yes, what }, surroundings);
  };
}

export async function removalOutcome(result: RemovalResult, what: 'delete' | 'prune'): Promise<Outcome> {
  const [{ removalData }, { removalText }] = await Promise.all([
    import('../views/json-change.js'),
    import('../views/text-check.js'),
  ]);
  return {
    data: () => removalData(result),
    text: () => removalText(result, { tellKept: what === 'prune' }),
    report: !result.dryRun,
    messages: result.messages,
  };
}
