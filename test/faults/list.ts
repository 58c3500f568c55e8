import type { FaultTest } from './equipment/fault-test.js';
import { kills } from './suite/kills.js';

/** The suite, in the order in which it is run. */
export const suite: readonly FaultTest[] = [kills];
