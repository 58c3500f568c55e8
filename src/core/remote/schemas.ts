import * as z from 'zod';

import { count, objectId, pointerFields, text } from '../document-fields.js';
import type { FetchData, PushData } from './documents.js';
import { leftOutOfPush, refusals } from './results.js';

export type * from './documents.js';

/*
 * The schemas of the documents of `push` and `fetch`.
 */

const snapshotFields = { instance: text, seq: count.min(1), ref: pointerFields.ref, commit: objectId };
const snapshotSchema = z.object(snapshotFields);

const remoteFields = {
  remote: text,
  dry_run: z.boolean(),
  present: z.array(snapshotSchema),
  refused: z.array(z.object({ ...snapshotFields, reason: z.enum(refusals), detail: text })),
};

export const pushDataSchema: z.ZodType<PushData> = z.object({
  ...remoteFields,
  pushed: z.array(snapshotSchema),
  left_out: z.array(z.object({ ...snapshotFields, reason: z.enum(leftOutOfPush) })),
});

export const fetchDataSchema: z.ZodType<FetchData> = z.object({ ...remoteFields, fetched: z.array(snapshotSchema) });

export const remoteSchemas: { readonly push: z.ZodType<PushData>; readonly fetch: z.ZodType<FetchData> } = {
  push: pushDataSchema,
  fetch: fetchDataSchema,
};
