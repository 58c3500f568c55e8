import * as z from 'zod';

import { type LeftOutReason, leftOutReasons } from '../entry.js';
import type { JsonPath } from '../entry-path.js';
import { jsonPathSchema } from '../json-path.js';
import { type StateGroup, type StateLeftOutReason, type StateMissing, stateMissingReasons } from './results.js';

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

const text = z.string();
const count = z.number().int().min(0);

const sizeFields = { name: text, path: jsonPathSchema, files: count, size_bytes: count };

export const stateDataSchema: z.ZodType<StateData> = z.discriminatedUnion('stored', [
  z.object({ stored: z.literal(false), reason: z.enum(stateMissingReasons), why: text }),
  z.object({
    stored: z.literal(true),
    ...sizeFields,
    observed_only: z.array(z.object({ mount: text, path: jsonPathSchema, reason: z.enum(leftOutReasons) })),
  }),
]);

export const shownStateSchema: z.ZodType<ShownStateData> = z.discriminatedUnion('stored', [
  z.object({ stored: z.literal(false), reason: text }),
  z.object({
    stored: z.literal(true),
    ...sizeFields,
    contents: z.array(z.object({ agent: text, kind: text, files: count, size_bytes: count })),
    left_out: z.array(z.object({ path: jsonPathSchema, reason: z.enum([...leftOutReasons, 'credential']) })),
  }),
]);

export const exportedStateSchema: z.ZodType<ExportedStateData> = z.object({ included: z.boolean(), ...sizeFields });
