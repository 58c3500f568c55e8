import type { Manifest } from '../core/manifest.js';
import { storesContent } from '../core/policy.js';
import type { KnownSnapshot } from './snapshots.js';

/** False where there is nothing to compare with, and nothing to put back. */
export function holdsContent({ record }: KnownSnapshot, { policy }: Manifest): boolean {
  return storesContent(policy) || record.trigger === 'emergency';
}

/** Said of whatever is shown of such a snapshot: no file in it does not mean that there was none. */
export function withoutContentMessages(known: KnownSnapshot, manifest: Manifest): string[] {
  return holdsContent(known, manifest) ? [] : [`${noContent(known)}.`];
}

/** Of a restore that has nothing to go by. */
export function noContentMessage(known: KnownSnapshot): string {
  return `${noContent(known)}: nothing was compared or restored.`;
}

function noContent({ ref }: KnownSnapshot): string {
  return `Snapshot ${String(ref.seq)} holds no content of files (snapshot=metadata)`;
}
