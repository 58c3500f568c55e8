import { describe, expect, test } from 'vitest';
import type { InstanceRecord } from '../../src/core/instance-record.js';
import type { SessionStatus } from '../../src/core/jackin/session-status.js';
import { statusOf } from '../../src/core/session-status.js';

type Exit = NonNullable<InstanceRecord['exit']>;

const decided = (decision: Exit['decision']): Exit => ({ decision, decided_at: '', note: null, snapshot: null });
const ended = (how: 'ended' | 'killed') => ({ how, noticed_at: '' });

function session(change: Partial<SessionStatus>): SessionStatus {
  return { status: 'crashed', recorded: 'active', container: 'exited', owner: null, ...change };
}

const runs = session({ status: 'running', container: 'running', owner: 'container x is running' });
const mayRun = session({ status: 'active', container: 'unknown', owner: 'whether container x runs …' });

interface Row {
  readonly what: string;
  readonly record?: Partial<Pick<InstanceRecord, 'state' | 'exit' | 'ended'>>;
  readonly active?: boolean;
  readonly session?: SessionStatus;
  readonly end?: 'ended' | 'killed';
  readonly removed?: boolean;
  readonly status: string;
}

describe('how an instance stands', () => {
  test.each<Row>([
    { what: 'nothing is known but that it is there', status: 'open' },
    { what: 'a living process owns it', active: true, status: 'active' },
    { what: 'its container runs', active: true, session: runs, status: 'running' },
    { what: 'its container may run, which nobody can find out', active: true, session: mayRun, status: 'active' },
    {
      what: 'a process works in the folders of an ended session',
      active: true,
      session: session({}),
      status: 'active',
    },
    { what: 'its session ended', session: session({}), status: 'crashed' },
    { what: 'its owner ended', record: { ended: ended('ended') }, status: 'ended' },
    { what: 'its run was killed', record: { ended: ended('killed') }, status: 'killed' },
    { what: 'a mark tells how it ended', end: 'killed', record: { ended: ended('ended') }, status: 'killed' },
    { what: 'a session says more than a mark', end: 'killed', session: session({}), status: 'crashed' },
    { what: 'its work is to stay', record: { exit: decided('keep') }, status: 'kept' },
    {
      what: 'it is kept, and its owner is gone',
      record: { exit: decided('keep'), ended: ended('ended') },
      status: 'kept',
    },
    { what: 'it is kept, and somebody works in it', record: { exit: decided('keep') }, active: true, status: 'active' },
    { what: 'its worktree was removed', removed: true, record: { exit: decided('keep') }, status: 'removed' },
    {
      what: 'its worktree was removed, and it is closed',
      removed: true,
      record: { state: 'closed' },
      status: 'closed',
    },
    { what: 'it is closed', record: { state: 'closed' }, status: 'closed' },
    { what: 'it is closed, and was kept', record: { state: 'closed', exit: decided('keep') }, status: 'closed' },
    { what: 'it was discarded', record: { state: 'closed', exit: decided('discard') }, status: 'discarded' },
    { what: 'it is closed, and marked active', record: { state: 'closed' }, active: true, status: 'closed' },
  ])(
    'is $status when $what',
    ({ record = {}, active = false, session: of = null, end = null, removed = false, status }) => {
      expect(statusOf({ state: 'open', ...record }, { active, session: of, end, removed })).toBe(status);
    },
  );
});
