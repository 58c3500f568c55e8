import type { EntryPath } from '../core/entry-path.js';
import type { ObjectId } from '../core/ids.js';

/*
 * What a restore's threads are asked for. Descriptors belong to the process: what one thread holds, all of them reach.
 */

/** A new file that is to hold a blob's bytes as they are. */
export interface MakeJob {
  /** Where the blob begins in the pack. */
  readonly offset: number;
  readonly oid: ObjectId;
  readonly size: number;
  readonly name: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file that is to be as it says. */
export interface ConfirmJob {
  readonly path: EntryPath;
  readonly oid: ObjectId;
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export type Batch =
  | { readonly kind: 'make'; readonly pack: string; readonly directory: string; readonly jobs: readonly MakeJob[] }
  | { readonly kind: 'confirm'; readonly root: string; readonly jobs: readonly ConfirmJob[] };

/** For each job of a batch. What was not done has left nothing behind. */
export type Outcomes = Uint8Array;

export const notDone = 0;
export const done = 1;
/** Made, but the caller may not set its owner. */
export const ownerRefused = 2;
