import type { HostPath } from '../../core/entry-path.js';
import type { InstanceName } from '../../core/ids.js';
import type { MountRecord } from '../../core/instance-record.js';
import type { RunBlock } from '../../core/run-results.js';
import { isSnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/** Which folder each of some paths is; null where there is none. */
export type Places = ReadonlyMap<HostPath, string | null>;

export function placesOf({ host }: Context, mounts: readonly Pick<MountRecord, 'path'>[]): Places {
  return new Map(
    mounts.map(({ path }) => {
      const identity = identityOf(host, path);
      return [path, identity?.directory === true ? `${String(identity.dev)} ${String(identity.ino)}` : null];
    }),
  );
}

/** A folder that cannot be looked at is nowhere. */
function identityOf(host: Context['host'], path: HostPath): ReturnType<Context['host']['identity']> {
  try {
    return host.identity(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** What a command did with the folders themselves, or their instance, that stands in the way of a restore into them. */
export function blockedBy(context: Context, instance: InstanceName, before: Places): RunBlock | null {
  const now = placesOf(
    context,
    [...before.keys()].map((path) => ({ path })),
  );
  const changed = [...before].filter(([path, place]) => now.get(path) !== place);
  if (changed.some(([path]) => now.get(path) === null)) return 'gone';
  if (changed.length > 0) return 'replaced';
  return isClosed(context, instance) ? 'closed' : null;
}

/** A record that cannot be read any more closes nothing: other messages say so. */
function isClosed({ registry }: Context, instance: InstanceName): boolean {
  try {
    return registry.find(instance)?.state === 'closed';
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    return false;
  }
}
