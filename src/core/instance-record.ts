import * as z from 'zod';

import type { HostPath } from './entry-path.js';
import { pathFromJson, pathToJson } from './entry-path.js';
import type { InstanceName, MountName } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { type Policy, policySchema, policyToJson } from './policy.js';
import { type RecoveryIndex, recoveryIndexFromJson } from './recovery-index.js';

/** What we keep of one protected session. */
export interface InstanceRecord {
  readonly name: InstanceName;
  readonly createdAt: string;
  readonly state: 'open' | 'closed';
  readonly mounts: readonly MountRecord[];
  readonly policy: Policy;
  /** Where it comes from; absent where it is made of folders that were named. */
  readonly recovery?: RecoveryIndex;
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
  name: z.string(),
  created_at: z.string(),
  state: z.enum(['open', 'closed']),
  mounts: z.array(
    z.object({
      name: z.string(),
      path: jsonPathSchema,
      device: z.string().regex(/^\d+$/),
      inode: z.string().regex(/^\d+$/),
    }),
  ),
  policy: policySchema,
  recovery: z.unknown().optional(),
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
  };
}

/** @throws z.ZodError for anything that recordToJson does not make. */
export function recordFromJson(value: unknown): InstanceRecord {
  const parsed = recordSchema.parse(value);
  return {
    name: parsed.name as InstanceName,
    createdAt: parsed.created_at,
    state: parsed.state,
    mounts: parsed.mounts.map(({ name, path, device, inode }) => ({
      name: name as MountName,
      path: pathFromJson(path) as HostPath,
      dev: BigInt(device),
      ino: BigInt(inode),
    })),
    policy: parsed.policy,
    ...(parsed.recovery === undefined ? {} : { recovery: recoveryIndexFromJson(parsed.recovery) }),
  };
}
