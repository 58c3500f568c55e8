import * as z from 'zod';

import { count, text } from '../document-fields.js';
import { leftOutReasons } from '../entry.js';
import { jsonPathSchema } from '../json-path.js';
import type { ExportedStateData, ShownStateData, StateData } from './documents.js';
import { stateMissingReasons } from './results.js';

/*
 * The schemas of what documents say of a session's state in a snapshot.
 */

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
