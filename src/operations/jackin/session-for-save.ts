import type { InstanceRecord } from '../../core/instance-record.js';
import type { SaveRequest } from '../../core/requests.js';
import type { Context } from '../context.js';
import { importedRecord, leftOutText, noHints } from './imported-record.js';

/**
 * The record of a new instance that is named as a session of jackin's is; undefined where the name is none of jackin's, or
 * folders are named. Nothing is written.
 */
export async function sessionForSave(context: Context, request: SaveRequest): Promise<InstanceRecord | undefined> {
  const { instance } = context;
  if (instance === null || (request.folders ?? []).length > 0) return undefined;
  const home = await context.jackin();
  if (home.manifest(instance) === undefined) return undefined;
  return importedRecord(context, instance, noHints);
}

/** What a save says that found its folders in jackin's data. */
export function foundMessages({ name, mounts, recovery }: InstanceRecord): string[] {
  const sources = (recovery?.mounts ?? []).map(({ name: mount, source }) => `${mount} (${source})`).join(', ');
  const count = mounts.length === 1 ? '1 mount' : `${String(mounts.length)} mounts`;
  return [
    `Instance ${name} is a session of jackin's, with ${count}: ${sources}.`,
    ...(recovery?.left_out ?? []).map((mount) => `${leftOutText(mount)}.`),
  ];
}
