import type { Processes } from './ports.js';
import * as z from './schema.js';

/** Who keeps an instance active. The owner's death ends the activity. */
export interface Activity {
  readonly pid: number;
  readonly start: string;
  readonly bootId: string;
  /** `run`: the owner clears its mark when it ends, unless it is killed. */
  readonly by?: 'run' | undefined;
}

const activitySchema = z.object({
  pid: z.int().check(z.positive()),
  start: z.string(),
  bootId: z.string(),
  by: z.catch(z.optional(z.literal('run')), undefined),
});

/** An activity as it is written down; what is written so is also known as a mark. */
export function markOf({ pid, start, bootId, by }: Activity): string {
  return JSON.stringify({ pid, start, bootId, by });
}

/** What is known of an instance's activity: the words for its owner, or null when nobody has it. */
export function activeOwner(text: string | undefined, processes: Processes): string | null {
  if (text === undefined) return null;
  const activity = parseActivity(text);
  // What cannot be read cannot be ruled out.
  if (activity === undefined) return 'an owner that cannot be made out';
  if (activity.bootId !== processes.bootId()) return null;
  return processes.startOf(activity.pid) === activity.start ? `process ${String(activity.pid)}` : null;
}

/** How an activity ended whose owner is gone; null where there is none, or it goes on, or that cannot be made out. */
export function endOfActivity(text: string | undefined, processes: Processes): 'ended' | 'killed' | null {
  const activity = text === undefined ? undefined : parseActivity(text);
  if (activity === undefined || activeOwner(text, processes) !== null) return null;
  return activity.by === 'run' || activity.bootId !== processes.bootId() ? 'killed' : 'ended';
}

export function parseActivity(text: string): Activity | undefined {
  try {
    return activitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
