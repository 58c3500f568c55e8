import type { HostPath } from '../../src/core/entry-path.js';
import { parseObjectId } from '../../src/core/ids.js';
import { defaultPolicy } from '../../src/core/policy.js';
import { indexOfFolders } from '../../src/core/recovery-index.js';
import type { ImportResult, RecoveryResult } from '../../src/core/recovery-results.js';
import type { JackinSnap } from '../../src/core/requests.js';
import { instance, mount, pointer } from './fake-names.js';

const first = { ...pointer(1), chosen: 'first', snapshots: 1, latest: pointer(1).seq } as const;

/** What jackin has, and what an import makes of it. */
export const imported: ImportResult = {
  sessions: [
    {
      container: 'jk-k7p2m9xa-shop-smith',
      id: 'k7p2m9xa',
      role: 'smith',
      workspace: 'shop',
      agent: 'claude',
      updatedAt: '2026-03-01T12:00:00Z',
      recorded: 'active',
      status: 'killed_by_host',
      imported: false,
    },
  ],
  imported: [],
  messages: [],
};

/** The recovery index of an instance whose folder was named. */
export const recovery: RecoveryResult = {
  instance,
  recorded: true,
  index: indexOfFolders([{ name: mount }]),
  policy: defaultPolicy,
  session: null,
  ended: null,
  exit: null,
  owner: null,
  mounts: [
    {
      name: mount,
      path: '/w/web' as HostPath,
      present: true,
      source: 'named',
      containerPath: null,
      isolation: null,
      kind: 'clone',
      repository: {
        head: parseObjectId('1'.repeat(40)),
        branch: 'main',
        upstream: 'origin/main',
        ahead: 2,
        dirty: true,
        operation: null,
        unknown: [],
      },
    },
  ],
  snapshots: 1,
  latest: first,
  latestHoldsState: true,
  start: first,
  store: '/d' as HostPath,
};

/** The recovery part of a library that answers from literals. */
export function recoveryAnswers(
  note: <Answer>(name: string, request: unknown, answer: Answer) => Promise<Answer>,
): JackinSnap['recovery'] {
  return {
    show: (name) => note('recovery show', name, recovery),
    list: (name) => note('recovery list', name, { instance, snapshots: [], messages: [] }),
    instances: () => note('recovery instances', undefined, []),
    startingPoint: (name, snapshot) => note('recovery startingPoint', { name, snapshot }, first),
  };
}
