import type { EndedActivity, InstanceRecord } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';

/**
 * One word for how an instance stands: `active`, what a session of jackin's really is, `closed` or `discarded`, `kept`,
 * `ended` or `killed` where its owner is gone without a word, else `open`.
 * @param end what a mark tells that nobody cleared yet
 */
export function statusOf(
  { state, exit, ended }: Pick<InstanceRecord, 'state' | 'exit' | 'ended'>,
  active: boolean,
  session: SessionStatus | null,
  end: EndedActivity['how'] | null,
): string {
  if (state === 'closed') return exit?.decision === 'discard' ? 'discarded' : 'closed';
  return activeStatus(active, session) ?? (exit?.decision === 'keep' ? 'kept' : idleStatus(session, end ?? ended?.how));
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
