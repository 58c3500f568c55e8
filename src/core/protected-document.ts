import * as z from 'zod';

import type { JsonPath } from './entry-path.js';
import { type MissingReason, missingReasons } from './git-state.js';
import { jsonPathSchema } from './json-path.js';

/** What a snapshot holds of a mount's repository, as documents tell it. */
export interface ProtectedData {
  readonly complete: boolean;
  readonly commits: number;
  readonly branches: number;
  readonly stashes: number;
  readonly staged: boolean;
  readonly operation: string | null;
  readonly missing: readonly {
    readonly object: string;
    readonly path: JsonPath | null;
    readonly reason: MissingReason;
  }[];
  readonly missing_total: number;
  readonly problems: readonly string[];
}

const count = z.number().int().min(0);

/** What the command line prints of it. */
export const protectedDataSchema: z.ZodType<ProtectedData> = z.object({
  complete: z.boolean(),
  commits: count,
  branches: count,
  stashes: count,
  staged: z.boolean(),
  operation: z.string().nullable(),
  missing: z.array(z.object({ object: z.string(), path: z.nullable(jsonPathSchema), reason: z.enum(missingReasons) })),
  missing_total: count,
  problems: z.array(z.string()),
});
