import * as z from 'zod';

import { containerStates } from './containers.js';
import type { InstanceData, PointerData } from './documents.js';
import type { JsonPath } from './entry-path.js';
import type { EndedActivity, ExitDecision } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';
import { exitPolicies, policySchema } from './policy.js';

/*
 * What the schemas of documents are made of.
 */

export const count: z.ZodNumber = z.number().int().nonnegative();
export const text: z.ZodString = z.string();
export const maybeText: z.ZodType<string | null> = text.nullable();
export const objectId: z.ZodString = text.regex(/^[0-9a-f]{40}$/);

/** A path, or other bytes: text when it is UTF-8, else base64. */
export const pathSchema: z.ZodType<JsonPath> = z.union([text, z.object({ base64: z.base64() })]);

export const pointerFields: {
  readonly instance: z.ZodString;
  readonly seq: z.ZodNumber;
  readonly id: z.ZodString;
  readonly ref: z.ZodString;
} = {
  instance: text,
  seq: count.min(1),
  id: text.regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
  ref: text.startsWith('refs/jackin/'),
};

export const pointerSchema: z.ZodType<PointerData> = z.object(pointerFields);

export const sessionSchema: z.ZodType<SessionStatus> = z.object({
  status: text,
  recorded: maybeText,
  container: z.enum(containerStates),
  owner: maybeText,
});

export const exitSchema: z.ZodType<ExitDecision> = z.object({
  decision: z.enum(['keep', 'discard']),
  decided_at: z.iso.datetime(),
  note: maybeText,
  snapshot: count.nullable() as unknown as z.ZodType<ExitDecision['snapshot']>,
});

export const endedSchema: z.ZodType<EndedActivity> = z.object({
  how: z.enum(['ended', 'killed']),
  noticed_at: z.iso.datetime(),
});

export const instanceSchema: z.ZodType<InstanceData> = z.object({
  name: text,
  state: z.enum(['open', 'closed', 'damaged', 'fetched', 'lost']),
  status: text,
  active: z.boolean(),
  owner: maybeText,
  mounts: z.array(z.object({ name: text, path: pathSchema, present: z.boolean() })),
  snapshots: count,
  latest_seq: count.nullable(),
  size_bytes: count,
  pending_restore: z.boolean(),
  policy: policySchema,
  created_at: z.iso.datetime(),
  exit_policy: z.enum(exitPolicies),
  exit: exitSchema.optional(),
  ended: endedSchema.optional(),
  session: sessionSchema.optional(),
});

export const instanceListDataSchema: z.ZodType<{ readonly instances: readonly InstanceData[] }> = z.object({
  instances: z.array(instanceSchema),
});

export const instanceDataSchema: z.ZodType<{ readonly instance: InstanceData }> = z.object({
  instance: instanceSchema,
});

/** A schema's own way to a JSON Schema, also where parts of it are of zod's small form, which the large one passes over. */
export function withJsonSchema<Schema extends z.ZodType>(schema: Schema): Schema {
  const toJSONSchema: Schema['toJSONSchema'] = (parameters) => z.toJSONSchema(schema, parameters);
  return Object.defineProperty(schema, 'toJSONSchema', { value: toJSONSchema, configurable: true, writable: true });
}
