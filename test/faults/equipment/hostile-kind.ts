import type { Random } from '../../support/random.js';
import type { CraftedStore } from './crafted-store.js';

/** One kind of hostile store; the details follow from the random numbers. */
export interface HostileKind {
  readonly name: string;
  /** Answers in words what it did. */
  readonly craft: (store: CraftedStore, random: Random, outside: string) => string;
  /** Damage to the whole store: then nothing need work. */
  readonly spoilsAll?: true;
}
