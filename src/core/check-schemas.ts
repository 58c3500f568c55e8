import * as z from 'zod';

import { count, maybeText, pathSchema, pointerSchema, text } from './document-fields.js';
import type { DoctorData, DrillData, VerifyData } from './documents.js';

/*
 * The schemas of the documents of `verify`, `drill` and `doctor`.
 */

export const verifyDataSchema: z.ZodType<VerifyData> = z.object({
  sound: z.boolean(),
  snapshots_checked: count,
  damaged: z.array(
    z.object({
      snapshot: pointerSchema,
      problem: text,
      paths: z.array(z.object({ mount: maybeText, path: pathSchema, kind: z.enum(['file', 'directory']) })),
      paths_total: count,
    }),
  ),
  problems: z.array(text),
  content: z.object({ objects_checked: count, objects_total: count }).nullable(),
});

export const drillDataSchema: z.ZodType<DrillData> = z.object({
  snapshot: pointerSchema,
  restorable: z.boolean(),
  files: count,
  bytes: count,
  differences: z.array(z.object({ mount: text, path: pathSchema, reason: text })),
});

export const doctorDataSchema: z.ZodType<DoctorData> = z.object({
  healthy: z.boolean(),
  damaged: z.boolean(),
  findings: z.array(z.object({ level: z.enum(['ok', 'fixed', 'note', 'problem']), what: text, hint: maybeText })),
});
