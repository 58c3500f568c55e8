import type { ObjectId } from './ids.js';

/*
 * What a check of content is asked, and what it finds.
 */

/** A part of all objects. The parts follow each other by ids, round and round. */
export interface ContentPart {
  /** At most so many of a hundred, at least one object. */
  readonly percent: number;
  /** Asked after each object: whether this is enough. */
  readonly isOver: () => boolean;
}

export interface ContentProgress {
  readonly objects: number;
  readonly bytes: number;
  /** How many objects there are to do. */
  readonly of: number;
}

export interface ContentCheck {
  readonly checked: number;
  /** All objects of the store. */
  readonly total: number;
  /** Those that cannot be read or are not what their ids say, in whatever copy git reads; and why. */
  readonly unreadable: ReadonlyMap<ObjectId, string>;
}

/** What a snapshot has lost. */
export interface Damage {
  /** How many paths cannot be read; a directory, with all below it, counts as one. */
  readonly total: number;
  /** The first of them, as stored: bytes; '' is the whole tree. */
  readonly paths: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[];
}

/** What is known of objects, or found out, without reading everything. */
export interface StoreCondition {
  /** How many objects there are, be they sound or not. */
  countObjects(): Promise<number>;
  /**
   * Of these commits those whose few trees name each other for more files than a snapshot can hold, so that a listing or a
   * diff of them would not end. What was found intact before is none, and costs nothing.
   */
  oversizedSnapshots(commits: readonly ObjectId[]): Promise<Set<ObjectId>>;
  /** Objects that a check found damaged, as far as that is noted. No process. */
  notedDamage(): readonly ObjectId[];
  /** A check of all found none. */
  forgetDamage(): void;
  /** What these commits need and is missing, and what of `notedDamage` is still damaged: only that stays noted. */
  damagedObjects(commits: readonly ObjectId[]): Promise<ObjectId[]>;
}
