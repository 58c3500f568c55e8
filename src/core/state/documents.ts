import type { LeftOutReason } from '../entry.js';
import type { JsonPath } from '../entry-path.js';
import type { StateGroup, StateLeftOutReason, StateMissing } from './results.js';

/*
 * What documents say of a session's state in a snapshot.
 */

/** Where it lies in the snapshot, and how much it is. */
export interface StateSizeData {
  readonly name: string;
  readonly path: JsonPath;
  readonly files: number;
  readonly size_bytes: number;
}

/** What a save stored of it. */
export type StateData =
  | { readonly stored: false; readonly reason: StateMissing; readonly why: string }
  | (StateSizeData & {
      readonly stored: true;
      readonly observed_only: readonly {
        readonly mount: string;
        readonly path: JsonPath;
        readonly reason: LeftOutReason;
      }[];
    });

/** What a snapshot holds of it, as `show` tells it. */
export type ShownStateData =
  | { readonly stored: false; readonly reason: string }
  | (StateSizeData & {
      readonly stored: true;
      readonly contents: readonly (Pick<StateGroup, 'agent' | 'kind' | 'files'> & { readonly size_bytes: number })[];
      readonly left_out: readonly { readonly path: JsonPath; readonly reason: StateLeftOutReason }[];
    });

/** `included` where it was asked for, and is in what was exported. */
export type ExportedStateData = StateSizeData & { readonly included: boolean };
