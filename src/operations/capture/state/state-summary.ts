import type { LeftOutReason } from '../../../core/entry.js';
import { displayPath } from '../../../core/entry-path.js';
import type { StateSummary } from '../../../core/results.js';
import type { StateCapture } from './capture-state.js';

/** What a save says of state in its result. */
export function stateSummary(found: StateCapture): StateSummary {
  if (!('state' in found)) return { stored: false, reason: found.reason, why: found.why };
  const { mount, captured } = found.state;
  return {
    stored: true,
    name: mount.name,
    path: mount.path,
    files: captured.stats.filesStored,
    sizeBytes: captured.stats.bytesStored,
    observedOnly: captured.leftOut.map(({ path, reason }) => ({ mount: mount.name, path, reason })),
  };
}

/** What has to be said of state: that there is none, or what should be in it and is not. */
export function stateNotes(found: StateCapture): string[] {
  if (!('state' in found)) return [`No state of the session is stored: ${found.why}. The folders are.`];
  return found.state.captured.leftOut.flatMap(({ path, reason }) => {
    const why = missing[reason];
    return why === undefined ? [] : [`Of the session's state, ${displayPath(path)} is left out: ${why}.`];
  });
}

/** What is not on the list is no news. */
const missing: Partial<Readonly<Record<LeftOutReason, string>>> = {
  secret: 'it is, or seems to hold, a secret',
  too_large: 'it is too large to be looked at for secrets',
  unsupported: 'it cannot be looked at for secrets',
  unreadable: 'it cannot be read',
  unstable: 'it changed while it was read',
};
