import { onFirstUse } from '../on-first-use.js';
import * as z from '../schema.js';

/**
 * What jackin's own manifest (`.jackin/instance.json`, version 2) says of an instance. It names no mounts. Fields that are
 * not here are dropped, so that nothing gets into a snapshot that this program does not know.
 */
export interface JackinManifest {
  readonly version: 2;
  readonly instance_id: string;
  readonly container_base: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly workspace_name?: string | null | undefined;
  readonly workspace_label: string;
  /** A path in the container. */
  readonly workdir: string;
  readonly host_workdir_fingerprint: string;
  readonly role_key: string;
  readonly role_display_name: string;
  readonly agent_runtime: string;
  readonly role_source_git: string;
  readonly role_source_ref?: string | null | undefined;
  readonly image_tag: string;
  readonly status: string;
  /** `exit:<code>`, `running` or `oom_killed`. */
  readonly last_attach_outcome?: string | null | undefined;
  readonly docker?: { readonly role_container: string } | null | undefined;
  readonly backend?: string | null | undefined;
  readonly role_git_sha?: string | null | undefined;
  readonly base_image_ref?: string | null | undefined;
  readonly base_image_digest?: string | null | undefined;
}

export const jackinManifestVersion = 2;

const maybe = z.nullish(z.string());

export const jackinManifestSchema: () => z.ZodMiniType<JackinManifest> = onFirstUse(() =>
  z.object({
    version: z.literal(jackinManifestVersion),
    instance_id: z.string(),
    container_base: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    workspace_name: maybe,
    workspace_label: z.string(),
    workdir: z.string(),
    host_workdir_fingerprint: z._default(z.string(), ''),
    role_key: z.string(),
    role_display_name: z._default(z.string(), ''),
    agent_runtime: z.string(),
    role_source_git: z._default(z.string(), ''),
    role_source_ref: maybe,
    image_tag: z._default(z.string(), ''),
    status: z.string(),
    last_attach_outcome: maybe,
    docker: z.nullish(z.object({ role_container: z.string() })),
    backend: maybe,
    role_git_sha: maybe,
    base_image_ref: maybe,
    base_image_digest: maybe,
  }),
);

/** The container that the instance's agent works in. */
export function roleContainer(manifest: JackinManifest): string {
  return manifest.docker?.role_container ?? manifest.container_base;
}
