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
  // Who cannot be found out counts as active, but is not said to run.
  const isKnown = session?.container !== 'unknown';
  const runs = session !== null && session.owner !== null;
  if (active && (isKnown || !runs)) return runs ? session.status : 'active';
  return exit?.decision === 'keep' ? 'kept' : idleStatus(session, end ?? ended?.how);
}

function idleStatus(session: SessionStatus | null, end: EndedActivity['how'] | undefined): string {
  return session?.status ?? end ?? 'open';
}
