import type { Assessment } from '../../src/core/assessment.js';
import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import { parseObjectId } from '../../src/core/ids.js';
import type { JackinSnap } from '../../src/core/requests.js';
import type { InstanceSummary } from '../../src/core/results.js';
import { SnapError } from '../../src/errors.js';
import { namedRisks } from '../../src/core/assessment.js';
import { instance, mount, pointer } from './fake-names.js';

const commit = parseObjectId('1'.repeat(40));
const unpushed = { branch: 'topic', why: 'no upstream' };

/** A repository with a dirty file, and a branch that nobody else has. */
export const assessment: Assessment = {
  instance,
  state: 'open',
  verdict: 'dirty',
  mounts: [
    {
      name: mount,
      path: '/work/m' as HostPath,
      present: true,
      kind: 'clone',
      isolation: 'shared',
      verdict: 'dirty',
      risks: [],
      repositories: [
        {
          path: '' as EntryPath,
          verdict: 'dirty',
          risks: [{ branch: null, why: 'uncommitted changes' }, unpushed],
          base: null,
          work: {
            head: commit,
            branch: 'main',
            detached: false,
            headIsHeld: false,
            left: [],
            branches: [
              {
                name: 'main',
                tip: commit,
                current: true,
                upstream: 'origin/main',
                gone: false,
                ahead: 0,
                held: null,
                elsewhere: false,
              },
              {
                name: 'topic',
                tip: commit,
                current: false,
                upstream: null,
                gone: false,
                ahead: null,
                held: null,
                elsewhere: false,
              },
            ],
            stashes: 0,
            operation: null,
            unknown: [],
          },
        },
      ],
      files: [{ path: 'a.txt' as EntryPath, status: ' M' }],
      comparedWith: null,
    },
  ],
  latest: pointer(3),
  exitPolicy: 'ask',
};

/** The part of a library that decides on sessions, answering from literals. */
export function sessionAnswers(
  note: <Answer>(name: string, request: unknown, answer: Answer) => Promise<Answer>,
  summary: InstanceSummary,
): Pick<JackinSnap, 'assess' | 'keep' | 'discard' | 'resume'> {
  const exit = { decision: 'keep', decided_at: '2026-03-01T12:00:00.000Z', note: 'later', snapshot: null } as const;
  return {
    assess: (name) => note('assess', name, assessment),
    keep: (request) =>
      note('keep', request, {
        instance: { ...summary, status: 'kept', exit },
        mounts: [{ name: mount, path: '/work/m' as HostPath, state: 'changed', changed: 2, comparedWith: pointer(3) }],
      }),
    discard: async ({ confirm, ...request }) => {
      const acknowledged = new Set(request.acknowledge);
      const risks = namedRisks(assessment).filter(({ name }) => !acknowledged.has(name));
      if (!(await confirm(assessment, risks, () => Promise.resolve([]))))
        throw new SnapError('DECLINED', 'Nothing was discarded.', { what: 'discard' });
      const discarded = { ...summary, state: 'closed', status: 'discarded' } as const;
      const result = { instance: discarded, assessment, snapshot: pointer(4), worktree: null, messages: [] };
      return note('discard', request, result);
    },
    resume: (name) =>
      note('resume', name, {
        instance: summary,
        kept: exit,
        latest: pointer(3),
        mounts: [{ name: mount, path: '/work/m' as HostPath, state: 'changed', changed: 2, comparedWith: pointer(3) }],
        container: null,
      }),
  };
}
