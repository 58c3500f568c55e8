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
  if (active && session?.container !== 'unknown') return session?.owner == null ? 'active' : session.status;
  if (active && session?.owner == null) return 'active';
  if (exit?.decision === 'keep') return 'kept';
  return session?.status ?? end ?? ended?.how ?? 'open';
}
