import * as z from '../schema.js';

export const indexVersion = 1;

/** One instance as jackin's index (`instances.json`, version 1) has it, also one that was purged. */
export interface IndexRow {
  readonly instance_id: string;
  readonly container_base: string;
  readonly workspace_name?: string | null | undefined;
  readonly workspace_label: string;
  readonly role_key: string;
  readonly agent_runtime: string;
  readonly status: string;
  readonly updated_at: string;
}

export interface InstanceIndex {
  readonly version: 1;
  readonly instances: readonly IndexRow[];
}

const rowSchema = z.object({
  instance_id: z.string(),
  container_base: z.string(),
  workspace_name: z.nullish(z.string()),
  workspace_label: z.string(),
  role_key: z.string(),
  agent_runtime: z.string(),
  status: z.string(),
  updated_at: z.string(),
});

export const instanceIndexSchema: z.ZodMiniType<InstanceIndex> = z.object({
  version: z.literal(indexVersion),
  instances: z.array(rowSchema),
});
