import type { EndedActivity, InstanceRecord } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';

/** What is known of an instance beside its record. */
export interface Standing {
  readonly active: boolean;
  readonly session: SessionStatus | null;
  /** What a mark tells that nobody cleared yet. */
  readonly end: EndedActivity['how'] | null;
  /** The worktree that `run` made for it was removed. */
  readonly removed: boolean;
}

/**
 * One word for how an instance stands: `active`, what a session of jackin's really is, `closed` or `discarded`, `removed`,
 * `kept`, `ended` or `killed` where its owner is gone without a word, else `open`.
 */
export function statusOf(
  { state, exit, ended }: Pick<InstanceRecord, 'state' | 'exit' | 'ended'>,
  { active, session, end, removed }: Standing,
): string {
  if (state === 'closed') return exit?.decision === 'discard' ? 'discarded' : 'closed';
  const now = activeStatus(active, session);
  if (now !== null) return now;
  if (removed) return 'removed';
  return exit?.decision === 'keep' ? 'kept' : idleStatus(session, end ?? ended?.how);
}

/** Who cannot be found out counts as active, but is not said to run. */
function activeStatus(active: boolean, session: SessionStatus | null): string | null {
  const owned = session !== null && session.owner !== null;
  if (!active || (owned && session.container === 'unknown')) return null;
  return owned ? session.status : 'active';
}

function idleStatus(session: SessionStatus | null, end: EndedActivity['how'] | undefined): string {
  return session?.status ?? end ?? 'open';
}
