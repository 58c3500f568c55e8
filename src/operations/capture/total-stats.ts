import type { SaveStats } from '../../core/results.js';
import type { CapturedMount } from './capture-mounts.js';

/** What the captures of all mounts come to. */
export function totalStats(captured: readonly CapturedMount[], bytesAdded: number): SaveStats {
  const total = { filesObserved: 0, filesStored: 0, filesReused: 0, filesRead: 0, bytesRead: 0, bytesStored: 0 };
  for (const {
    captured: { stats },
  } of captured) {
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += stats[key];
  }
  return { ...total, bytesAdded };
}
