import type { ObjectId } from './ids.js';

export interface UsageQuestion {
  /** `commits` go with a snapshot and lead nowhere; `group` counts from 0. */
  readonly snapshots: readonly {
    readonly commits: readonly ObjectId[];
    readonly tree: ObjectId;
    readonly group: number;
  }[];
  /** What else is kept. */
  readonly others: readonly { readonly commits: readonly ObjectId[]; readonly tree: ObjectId }[];
  /** Places in `snapshots`: what would be free without these. */
  readonly sets: readonly (readonly number[])[];
}

/** Bytes as git has them on the disk: compressed, deltas as deltas. `unique` is what nothing else leads to. */
export interface StoreUsage {
  readonly snapshots: readonly { readonly bytes: number; readonly unique: number }[];
  readonly groups: readonly { readonly bytes: number; readonly unique: number }[];
  /** What only the snapshots of a set lead to, all together. */
  readonly sets: readonly number[];
  readonly reachable: number;
  /** Of objects that nothing asked about leads to. */
  readonly garbage: number;
  readonly objects: number;
  /** Objects that are needed and not there. */
  readonly missing: number;
}
