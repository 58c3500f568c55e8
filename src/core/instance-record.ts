import type { HostPath } from './entry-path.js';
import { pathFromJson, pathToJson } from './entry-path.js';
import {
  type InstanceName,
  type MountName,
  type Seq,
  isInstanceName,
  isMountName,
  parseInstanceName,
  parseMountName,
} from './ids.js';
import type { DirtyExitPolicy } from './jackin/configuration.js';
import { jsonPathSchema } from './json-path.js';
import { type Policy, policySchema, policyToJson } from './policy.js';
import { type RecoveryIndex, recoveryIndexFromJson } from './recovery-index.js';
import * as z from './schema.js';

/** What we keep of one protected session. */
export interface InstanceRecord {
  readonly name: InstanceName;
  readonly createdAt: string;
  readonly state: 'open' | 'closed';
  readonly mounts: readonly MountRecord[];
  readonly policy: Policy;
  /** Where it comes from; absent where it is made of folders that were named. */
  readonly recovery?: RecoveryIndex;
  /** What was decided about the work in it; absent while nothing is. */
  readonly exit?: ExitDecision;
  /** How its last activity ended, where its owner did not say so; absent otherwise. */
  readonly ended?: EndedActivity;
}

export interface ExitDecision {
  readonly decision: 'keep' | 'discard';
  /** ISO 8601 in UTC. */
  readonly decided_at: string;
  readonly note: string | null;
  /** The latest snapshot at the time: of a kept instance it is never pruned. */
  readonly snapshot: Seq | null;
}

/** `ended`: the owner that was named is gone. `killed`: a run did not get to its end, or the machine was started anew. */
export interface EndedActivity {
  readonly how: 'ended' | 'killed';
  /** When it was noticed: when it happened is not known. ISO 8601 in UTC. */
  readonly noticed_at: string;
}

/** jackin's own setting for its sessions, the instance's for all others. */
export function exitPolicyOf({ recovery, policy }: InstanceRecord): DirtyExitPolicy {
  return recovery?.cleanup ?? policy.exit_policy;
}

/** A mount as it was registered: its real path, and which directory that was. */
export interface MountRecord {
  readonly name: MountName;
  readonly path: HostPath;
  readonly dev: bigint;
  readonly ino: bigint;
}

const recordSchema = z.object({
  format: z.literal('1'),
  name: z.pipe(z.string().check(z.refine(isInstanceName)), z.transform(parseInstanceName)),
  created_at: z.string(),
  state: z.enum(['open', 'closed']),
  mounts: z.array(
    z.object({
      name: z.pipe(z.string().check(z.refine(isMountName)), z.transform(parseMountName)),
      path: jsonPathSchema,
      device: z.string().check(z.regex(/^\d+$/)),
      inode: z.string().check(z.regex(/^\d+$/)),
    }),
  ),
  policy: policySchema,
  recovery: z.optional(z.unknown()),
  exit: z.optional(
    z.object({
      decision: z.enum(['keep', 'discard']),
      decided_at: z.string(),
      note: z.nullable(z.string()),
      snapshot: z.nullable(z.int().check(z.positive())),
    }),
  ),
  ended: z.optional(z.object({ how: z.enum(['ended', 'killed']), noticed_at: z.string() })),
});

/** The record as JSON, in an instance's own file and in each of its snapshots. */
export function recordToJson(record: InstanceRecord): unknown {
  return {
    format: '1',
    name: record.name,
    created_at: record.createdAt,
    state: record.state,
    mounts: record.mounts.map(({ name, path, dev, ino }) => ({
      name,
      path: pathToJson(path),
      device: String(dev),
      inode: String(ino),
    })),
    policy: policyToJson(record.policy),
    ...(record.recovery === undefined ? {} : { recovery: record.recovery }),
    ...(record.exit === undefined ? {} : { exit: record.exit }),
    ...(record.ended === undefined ? {} : { ended: record.ended }),
  };
}

/** @throws z.core.$ZodError for anything that recordToJson does not make. */
export function recordFromJson(value: unknown): InstanceRecord {
  const parsed = recordSchema.parse(value);
  return {
    name: parsed.name,
    createdAt: parsed.created_at,
    state: parsed.state,
    mounts: parsed.mounts.map(({ name, path, device, inode }) => ({
      name: name,
      path: pathFromJson(path) as HostPath,
      dev: BigInt(device),
      ino: BigInt(inode),
    })),
    policy: parsed.policy,
    ...(parsed.recovery === undefined ? {} : { recovery: recoveryIndexFromJson(parsed.recovery) }),
    ...(parsed.exit === undefined ? {} : { exit: parsed.exit as ExitDecision }),
    ...(parsed.ended === undefined ? {} : { ended: parsed.ended }),
  };
}
