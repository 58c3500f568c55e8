import type { FaultTest } from './equipment/fault-test.js';
import { bitFlips } from './suite/bit-flips.js';
import { clocks } from './suite/clocks.js';
import { doubleKills } from './suite/double-kills.js';
import { errors } from './suite/errors.js';
import { failedSyncs } from './suite/failed-syncs.js';
import { flips } from './suite/flips.js';
import { fullDisk } from './suite/full-disk.js';
import { hostileStore } from './suite/hostile-store.js';
import { kills } from './suite/kills.js';
import { model } from './suite/model.js';
import { mutants } from './suite/mutants.js';
import { parsers } from './suite/parsers.js';
import { powerCuts } from './suite/power-cuts.js';
import { racyEdits } from './suite/racy-edits.js';
import { savers } from './suite/savers.js';
import { swappedPaths } from './suite/swapped-paths.js';
import { traps } from './suite/traps.js';

/** The suite, in the order in which it is run. */
export const suite: readonly FaultTest[] = [
  kills,
  doubleKills,
  errors,
  failedSyncs,
  powerCuts,
  fullDisk,
  savers,
  parsers,
  bitFlips,
  clocks,
  racyEdits,
  model,
  mutants,
  traps,
  swappedPaths,
  flips,
  hostileStore,
];
