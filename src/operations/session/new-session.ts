import type { InstanceRecord } from '../../core/instance-record.js';
import type { SaveRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';

/** A name that no instance has yet may be that of a session of jackin's. */
export async function newSession(context: Context, request: SaveRequest): Promise<InstanceRecord | undefined> {
  if (context.instance === null || context.registry.find(context.instance) !== undefined) return undefined;
  return (await import('../jackin/session-for-save.js')).sessionForSave(context, request);
}

/** @throws SnapError SNAPSHOTS_OFF for saves that nobody asked for by hand, where the instance is to have none */
export function refuseAutomatic({ name, policy }: InstanceRecord, { trigger = 'manual' }: SaveRequest): void {
  if (policy.snapshot !== 'off' || trigger === 'manual') return;
  const message = `Snapshots of instance ${name} are off: only saves by hand are made.`;
  throw new SnapError('SNAPSHOTS_OFF', message, { instance: name });
}

/** What has to be said of an instance that a save made. */
export async function newInstanceNotes(context: Context, record: InstanceRecord): Promise<string[]> {
  if (record.recovery === undefined) return unknownFolders(context);
  return (await import('../jackin/session-for-save.js')).foundMessages(record);
}

/** What has to be said of a save for what its instance is set up to store. */
export function levelNotes({ name, policy }: InstanceRecord): string[] {
  if (policy.snapshot === 'off')
    return [`Snapshots of instance ${name} are off: this one was made since it was asked for by hand.`];
  return policy.snapshot === 'metadata'
    ? [`The snapshot holds no content of files: that is how instance ${name} is set up (snapshot=metadata).`]
    : [];
}

/** A folder that has an instance already would have got another one: that has to be said. */
function unknownFolders(context: Context): string[] {
  if (context.instance !== null) return [];
  const names = context.registry.damaged().map(({ name }) => name);
  return names.map((name) => `Instance ${name} is damaged: whether it has this folder is not known. See "doctor".`);
}
