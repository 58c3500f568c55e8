import type { DryRunPlan } from '../../core/jackin/configuration.js';
import { checked, parse, unknownVersion } from './json-file.js';
import * as z from '../../core/schema.js';

const planVersion = 'v1';

/**
 * What `jackin load … --dry-run --format json` printed.
 * @param file where it was read from, for errors
 * @throws SnapError CONFIGURATION_INVALID, JACKIN_VERSION_UNKNOWN
 */
export function parseDryRunPlan(file: string, text: string): DryRunPlan {
  const value = parse(file, text);
  const envelope = checked(file, value, z.object({ schema_version: z.unknown() }));
  if (envelope.schema_version !== planVersion) throw unknownVersion(file, envelope.schema_version ?? null, planVersion);
  const { data } = checked(file, value, planSchema);
  return {
    workspace: data.workspace ?? null,
    role: data.role ?? null,
    mounts: data.mounts.map(({ host_src: source, container_dest: destination, isolation }) => ({
      source,
      destination,
      isolation: isolation ?? 'shared',
    })),
  };
}

const absolute = z.string().check(z.startsWith('/', 'it must be an absolute path'));

const planSchema = z.object({
  data: z.object({
    workspace: z.nullish(z.string()),
    role: z.nullish(z.string()),
    mounts: z.array(
      z.object({
        host_src: absolute,
        container_dest: absolute,
        isolation: z.nullish(z.enum(['shared', 'worktree', 'clone'])),
      }),
    ),
  }),
});
