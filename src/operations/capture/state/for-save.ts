import type { InstanceRecord } from '../../../core/instance-record.js';
import type { ObjectWriter } from '../../../core/ports.js';
import type { Context } from '../../context.js';
import type { SnapshotDraft } from '../publish.js';
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

/** What a snapshot says of it: the state, or why there is none although there should be. */
export function draftedState(state: StateCapture | undefined): Pick<SnapshotDraft, 'state' | 'stateMissing'> {
  return {
    state: storedState(state),
    stateMissing: state !== undefined && 'reason' in state ? state.reason : undefined,
  };
}
