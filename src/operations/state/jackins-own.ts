import {
  type HostPath,
  bytesOfText,
  displayPath,
  hostPathBelow,
  parentOf,
  pathFromJson,
} from '../../core/entry-path.js';
import type { Manifest, ManifestMount } from '../../core/manifest.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { liesIn } from '../session/folders.js';

type WithState = Pick<Manifest, 'instance' | 'seq' | 'mounts'> & { readonly state: ManifestMount };

/**
 * Refuses to put state back in place. The agents' home lies below jackin's data, which is only ever read: jackin alone
 * knows when a container is about to use it.
 * @throws SnapError JACKIN_OWNED, always
 */
export function refuseInPlace(manifest: WithState): never {
  const path = displayPath(homeOf(manifest));
  throw jackinOwned(`State comes from ${path}, in jackin's data, where nothing is ever written.`, path, manifest);
}

/**
 * @throws SnapError JACKIN_OWNED for a destination in jackin's data, where it is now or where the state came from: what is
 * put there would be taken for jackin's
 */
export async function refuseInJackinsData(context: Context, destination: HostPath, manifest: WithState): Promise<void> {
  // data/<container>/home
  const then = parentOf(parentOf(homeOf(manifest)));
  const now = hostPathBelow(bytesOfText((await context.jackin()).path) as HostPath, 'data');
  const places = [destination, ...manifest.mounts.map(({ name }) => hostPathBelow(destination, name))];
  const isOwned = (place: HostPath): boolean =>
    [then, now].some((data) => data !== '/' && liesIn(context, place, data));
  if (!places.some(isOwned)) return;
  const path = displayPath(destination);
  throw jackinOwned(`${path} lies in jackin's data, where nothing is ever written.`, path, manifest);
}

function homeOf({ state }: WithState): HostPath {
  return pathFromJson(state.path) as HostPath;
}

function jackinOwned(what: string, path: string, { instance, seq }: WithState): SnapError<'JACKIN_OWNED'> {
  const snapshot = `${instance}/${String(seq)}`;
  return new SnapError('JACKIN_OWNED', `${what} Nothing was changed.`, { path, snapshot });
}
