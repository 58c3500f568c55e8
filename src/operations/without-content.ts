import type { Manifest } from '../core/manifest.js';
import { storesContent } from '../core/policy.js';
import type { KnownSnapshot } from './snapshots.js';

/** False where there is nothing to compare with, and nothing to put back. */
export function holdsContent({ record }: KnownSnapshot, { policy }: Manifest): boolean {
  return storesContent(policy) || record.trigger === 'emergency';
}

/** Said of whatever is shown of such a snapshot: no file in it does not mean that there was none. */
export function withoutContentMessages(known: KnownSnapshot, manifest: Manifest): string[] {
  if (holdsContent(known, manifest)) return [];
  return [`Snapshot ${String(known.ref.seq)} holds no content of files (snapshot=metadata).`];
}
