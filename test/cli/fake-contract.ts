import { type EntryPath, type HostPath, parseEntryPath } from '../../src/core/entry-path.js';
import type { Seq } from '../../src/core/ids.js';
import type { ExplainResult, PlanResult, UsageResult } from '../../src/core/plan-result.js';
import { defaultPolicy } from '../../src/core/policy.js';
import type { JackinSnap } from '../../src/core/requests.js';
import type { StackApprovalResult, StackSummary } from '../../src/core/stacks/result.js';
import { foreignName, instance, mount, pointer } from './fake-names.js';

const planned: PlanResult = {
  instance,
  isNew: false,
  refusal: null,
  policy: defaultPolicy,
  mounts: [
    {
      name: mount,
      path: '/work/m' as HostPath,
      kind: 'clone',
      stored: { files: 12, bytes: 1_234_567 },
      toRead: { files: 2, bytes: 2048 },
      leftOut: [{ reason: 'ignored', entries: 1, files: 3000, bytes: 5_000_000, unknown: true }],
      excludes: [
        { kind: 'exclude', file: null, preset: null, patterns: ['*.log', foreignName] },
        { kind: 'secret', file: null, preset: null, patterns: [] },
        { kind: 'stack', file: '' as EntryPath, preset: 'node', patterns: ['node_modules/'] },
        { kind: 'ignore_file', file: parseEntryPath('web/.gitignore'), preset: null, patterns: ['dist'] },
      ],
      complete: true,
    },
  ],
  store: { dataDirectory: '/data' as HostPath, exists: true, sizeBytes: 4096, freeBytes: 1e9 },
  restores: [
    {
      which: 'latest',
      snapshot: pointer(3),
      possible: false,
      refusals: [{ code: 'INSTANCE_ACTIVE', message: 'Instance t is active.' }],
      changes: [
        {
          mount,
          path: parseEntryPath('a'),
          hostPath: '/work/m/a' as HostPath,
          action: 'overwrite',
          reason: '',
          from: 'file',
          to: 'file',
          bytes: 2,
        },
      ],
      kept: [{ mount, path: parseEntryPath('clone'), reason: 'a repository made since' }],
      blocked: [{ mount, path: parseEntryPath('pipe'), reason: 'special' }],
      messages: [],
    },
  ],
  messages: [],
};

const noRule = { pattern: null, file: null, line: null, preset: null, setting: null, limit: null };

const explained: ExplainResult = {
  instance,
  explanations: [
    {
      mount,
      path: parseEntryPath('node_modules/x'),
      outcome: 'left_out',
      reason: 'excluded',
      rule: {
        ...noRule,
        kind: 'stack',
        path: parseEntryPath('node_modules'),
        pattern: 'node_modules/',
        file: '' as EntryPath,
        preset: 'node',
      },
    },
    {
      mount,
      path: foreignName,
      outcome: 'observed_only',
      reason: 'ignored',
      rule: {
        ...noRule,
        kind: 'ignore_file',
        path: foreignName,
        pattern: foreignName,
        file: parseEntryPath('.gitignore'),
        line: 3,
      },
    },
    {
      mount,
      path: parseEntryPath('a'),
      outcome: 'stored',
      reason: null,
      rule: { ...noRule, kind: 'none', path: parseEntryPath('a') },
    },
  ],
  messages: [],
};

const used: UsageResult = {
  instances: [
    {
      instance,
      bytes: 10_000,
      uniqueBytes: 7000,
      sharedBytes: 3000,
      snapshots: [{ seq: 1 as Seq, bytes: 9000, uniqueBytes: 0, sharedBytes: 9000 }],
      prunable: { snapshots: 1, freedBytes: 100 },
    },
  ],
  store: { totalBytes: 20_000, reachableBytes: 12_000, garbageBytes: 2000, overheadBytes: 6000, objects: 1234 },
  messages: [],
};

const preset: StackSummary = {
  name: 'node',
  description: 'Node.js',
  detect: [['package.json']],
  patterns: ['node_modules/'],
  optIn: false,
  source: 'built-in',
  file: null,
};

const problems = [{ line: 2, problem: 'there is no such field' }];

function approval(approved: boolean): StackApprovalResult {
  return { file: '/work/m/.jackin-snap.toml' as HostPath, approved, presets: approved ? [preset] : [] };
}

type Note = <Result>(method: string, request: unknown, result: Result) => Promise<Result>;

/** What the fake library answers of what would be. */
export function contractAnswers(note: Note): Pick<JackinSnap, 'plan' | 'explain' | 'usage' | 'stacks'> {
  return {
    plan: (request) => note('plan', request, planned),
    explain: (request) => note('explain', request, explained),
    usage: (request) => note('usage', request, used),
    stacks: {
      list: () =>
        note('stacks.list', undefined, { presets: [preset], invalid: [{ file: '/data/stacks/X.toml', problems }] }),
      show: (name) => note('stacks.show', name, preset),
      validate: (file) => note('stacks.validate', file, { preset: null, problems }),
      approve: (folder) => note('stacks.approve', folder, approval(true)),
      revoke: (folder) => note('stacks.revoke', folder, approval(false)),
    },
  };
}
