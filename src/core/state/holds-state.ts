import type { Manifest } from '../manifest.js';

/** Whether a snapshot holds a session's state beside its mounts: it leaves the store only where it is asked for. */
export function holdsState({ state }: Pick<Manifest, 'state'>): boolean {
  return state !== undefined;
}
