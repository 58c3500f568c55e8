import type { InstanceName, Seq } from '../core/ids.js';
import type { InstanceRegistry } from '../core/ports.js';

/** Notes a number as used; one that is lower than what is noted changes nothing. */
export function raiseLastSeq(
  registry: Pick<InstanceRegistry, 'lastSeq' | 'recordLastSeq'>,
  instance: InstanceName,
  seq: Seq,
): void {
  if (seq > (registry.lastSeq(instance) ?? 0)) registry.recordLastSeq(instance, seq);
}
