import { usualAttributes } from './attributes.js';
import type { CapturedMount } from './capture-mounts.js';

/**
 * A mount as a snapshot has it that is to hold no content: what is known of its repositories stays, its paths go. Such a
 * snapshot is limited to no path at all, so that a restore of it changes and deletes nothing.
 */
export function withoutContent(mount: CapturedMount): CapturedMount {
  const { captured } = mount;
  return {
    ...mount,
    captured: {
      ...captured,
      tree: undefined,
      entries: new Map(),
      leftOut: [],
      incomplete: [],
      bare: [],
      absent: [],
      stats: { ...captured.stats, filesStored: 0, bytesStored: 0 },
    },
    attributes: { defaults: usualAttributes([]), lines: [] },
    excludeFiles: [],
    rulesUnknown: [],
    // It has not stored what a cache would say it has.
    rememberStats: () => undefined,
  };
}
