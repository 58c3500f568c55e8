import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { Context } from '../context.js';
import type { captureMounts } from './capture-mounts.js';

/** What a capture is asked for that stores nothing: mounts as they are under a policy. */
export function lookOnly(
  context: Context,
  record: InstanceRecord,
  { mounts = record.mounts, policy }: { readonly mounts?: readonly MountRecord[]; readonly policy: Policy },
): Parameters<typeof captureMounts>[1] {
  return {
    record,
    mounts,
    policy,
    writer: context.hasher,
    full: false,
    graft: false,
    scope: () => null,
    forced: () => null,
    temporaryPrefix: null,
  };
}
