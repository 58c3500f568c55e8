import { type InstanceName, type ObjectId, isInstanceName, toSeq, zeroObjectId } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import { pinRefName, snapshotRefName } from '../../core/snapshot-record.js';
import type { Context } from '../context.js';

/** A snapshot that is pinned and has no ref: the pin, which goes before it when it is removed, proves that it is lost. */
export interface LostPinned {
  readonly pin: string;
  /** As the ref would be if nothing could be read of it; the commit is what the pin names, zeros where that is lost too. */
  readonly ref: SnapshotRef;
}

export async function lostPinned({ store }: Context, instance?: InstanceName): Promise<LostPinned[]> {
  const prefix = `refs/jackin-pin/${instance === undefined ? '' : `${instance}/`}`;
  const pins = store.exists() ? store.refNames(prefix) : [];
  if (pins.length === 0) return [];
  const names = new Set(store.refNames('refs/jackin/'));
  const lost = pins.flatMap((pin) => withoutRef(pin, names));
  if (lost.length === 0) return [];
  const values = new Map((await store.refs(prefix)).map(({ name, oid }) => [name, oid]));
  return lost.map(({ pin, ref }) => ({ pin, ref: { ...ref, commit: values.get(pin) ?? zeroObjectId } }));
}

function withoutRef(pin: string, names: ReadonlySet<string>): LostPinned[] {
  const [, name = '', number = ''] = /^refs\/jackin-pin\/([^/]+)\/([^/]+)$/.exec(pin) ?? [];
  const seq = toSeq(number);
  if (!isInstanceName(name) || seq === undefined) return [];
  const ref = snapshotRefName(name, seq);
  if (names.has(ref) || pin !== pinRefName(name, seq)) return [];
  const nothing: { commit: ObjectId; tree: ObjectId } = { commit: zeroObjectId, tree: zeroObjectId };
  return [{ pin, ref: { instance: name, seq, ref, message: '', ...nothing } }];
}
