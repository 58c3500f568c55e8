import type { InstanceRecord } from '../../../core/instance-record.js';
import type { ObjectWriter } from '../../../core/ports.js';
import type { StateMissing } from '../../../core/state-results.js';
import type { Context } from '../../context.js';
import type { CapturedState, StateCapture } from './capture-state.js';

/** State belongs to whole snapshots only: one that is limited to paths of the mounts has none. */
export async function captureStateFor(
  context: Context,
  { record, writer }: { readonly record: InstanceRecord; readonly writer: ObjectWriter },
  isLimited: boolean,
): Promise<StateCapture | undefined> {
  if (record.policy.snapshot !== 'project-and-state' || isLimited) return undefined;
  return (await import('./capture-state.js')).captureState(context, record, writer);
}

export function storedState(state: StateCapture | undefined): CapturedState | undefined {
  return state !== undefined && 'state' in state ? state.state : undefined;
}

/** Why none is stored, where that is so although it should be. */
export function stateMissing(state: StateCapture | undefined): StateMissing | undefined {
  return state !== undefined && 'reason' in state ? state.reason : undefined;
}
