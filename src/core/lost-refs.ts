import type { ObjectId } from './ids.js';

/** What is wrong with git's file of packed refs. */
export interface PackedRefsDamage {
  /** What is wrong, for people; empty where nothing is. */
  readonly problems: readonly string[];
  /** Refs whose values are no ids any more. */
  readonly names: readonly string[];
  /** Ids whose names are none any more. */
  readonly ids: readonly ObjectId[];
  /** Refs may be gone of which nothing is left in the file. */
  readonly isCut: boolean;
}

/** A commit in the store, whatever leads to it. Its tree is all zeros where it names none. */
export interface FoundCommit {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  readonly message: string;
  readonly hasParent: boolean;
}
