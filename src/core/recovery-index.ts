import type { JsonPath } from './entry-path.js';
import { type DirtyExitPolicy, type EnvironmentName, dirtyExitPolicies } from './jackin/configuration.js';
import { type JackinManifest, jackinManifestSchema } from './jackin/manifest.js';
import { jsonPathSchema } from './json-path.js';
import { onFirstUse } from './on-first-use.js';
import * as z from './schema.js';

/*
 * Where an instance comes from, and what it takes to have it again: part of its record, and so of each snapshot. What a
 * snapshot knows of the repositories in the mounts (base commit, branch, upstream, ahead, dirty) stands with its mounts.
 */

export interface RecoveryIndex {
  /** The session of jackin's that it stands for; null for folders that were named. */
  readonly jackin: JackinOrigin | null;
  readonly mounts: readonly MountOrigin[];
  readonly left_out: readonly LeftOutMount[];
  /** What jackin does with work that is left in isolated mounts; null where it has no say. */
  readonly cleanup: DirtyExitPolicy | null;
  readonly launch: LaunchRecipe | null;
}

export interface JackinOrigin {
  /** The JACKIN_HOME_DIR that its data lay in. */
  readonly home: JsonPath;
  /** jackin's own record at the time; the container and the instance id are in it. */
  readonly manifest: JackinManifest;
}

/** Where a mount's host path was found: in the order in which they are believed. */
export const mountSources = ['named', 'isolation', 'container', 'dry_run', 'workspace', 'global'] as const;
export type MountSource = (typeof mountSources)[number];

export interface MountOrigin {
  /** The mount's name in the instance. */
  readonly name: string;
  readonly source: MountSource;
  readonly container_path: JsonPath | null;
  /** Null for a folder that is shared as it is. */
  readonly isolation: MountIsolation | null;
}

/** A worktree or clone that was made for the session. */
export interface MountIsolation {
  readonly kind: 'worktree' | 'clone';
  /** The repository that it was made of. */
  readonly original: JsonPath;
  readonly branch: string | null;
  readonly base_commit: string | null;
  /** `active`, `preserved_dirty` or `preserved_unpushed`, by jackin's account. */
  readonly cleanup_status: string | null;
}

export const leftOutMountReasons = [
  'read_only',
  'missing',
  'no_folder',
  'unsafe',
  'inside_another',
  'not_made',
] as const;
export type LeftOutMountReason = (typeof leftOutMountReasons)[number];

/** A mount of the session that is none of the instance's. */
export interface LeftOutMount {
  readonly container_path: JsonPath;
  readonly path: JsonPath;
  readonly source: MountSource;
  readonly reason: LeftOutMountReason;
}

/** What it takes to launch such a session again. Values of the environment are never in it. */
export interface LaunchRecipe {
  readonly image: string | null;
  readonly role: {
    readonly key: string;
    readonly git: string;
    readonly ref: string | null;
    readonly commit: string | null;
  };
  readonly base: { readonly image: string | null; readonly digest: string | null };
  readonly agent: string;
  readonly workspace: string | null;
  readonly workdir: string;
  /** `docker` or `apple_container`. */
  readonly backend: string;
  readonly mounts: readonly PlannedMountSpec[];
  readonly environment: readonly EnvironmentName[];
}

/** All mounts of the session, those that are left out too. */
export interface PlannedMountSpec {
  readonly host_path: JsonPath;
  readonly container_path: JsonPath;
  readonly readonly: boolean;
  readonly isolation: 'shared' | 'worktree' | 'clone';
  readonly source: MountSource;
}

/** @throws z.core.$ZodError for anything that is no recovery index */
export function recoveryIndexFromJson(value: unknown): RecoveryIndex {
  return indexSchema().parse(value);
}

const indexSchema = onFirstUse((): z.ZodMiniType<RecoveryIndex> => {
  const { source, isolation, ...fields } = recoveryIndexSchemas();
  const origin = z.object({ name: z.string(), source, container_path: z.nullable(jsonPathSchema), isolation });
  return z.object({ ...fields, mounts: z.array(origin) });
});

/** The schemas of an index's parts, for documents that show them. */
export interface RecoveryIndexSchemas {
  readonly source: z.ZodMiniType<MountSource>;
  readonly isolation: z.ZodMiniType<MountIsolation | null>;
  readonly jackin: z.ZodMiniType<JackinOrigin | null>;
  readonly left_out: z.ZodMiniType<readonly LeftOutMount[]>;
  readonly cleanup: z.ZodMiniType<DirtyExitPolicy | null>;
  readonly launch: z.ZodMiniType<LaunchRecipe | null>;
}

export function recoveryIndexSchemas(): RecoveryIndexSchemas {
  const source = z.enum(mountSources);
  return {
    source,
    isolation: z.nullable(isolationSchema()),
    jackin: z.nullable(z.object({ home: jsonPathSchema, manifest: jackinManifestSchema() })),
    left_out: z.array(
      z.object({ container_path: jsonPathSchema, path: jsonPathSchema, source, reason: z.enum(leftOutMountReasons) }),
    ),
    cleanup: z.nullable(z.enum(dirtyExitPolicies)),
    launch: z.nullable(launchSchema(source)),
  };
}

function isolationSchema(): z.ZodMiniType<MountIsolation> {
  return z.object({
    kind: z.enum(['worktree', 'clone']),
    original: jsonPathSchema,
    branch: z.nullable(z.string()),
    base_commit: z.nullable(z.string()),
    cleanup_status: z.nullable(z.string()),
  });
}

function launchSchema(source: z.ZodMiniType<MountSource>): z.ZodMiniType<LaunchRecipe> {
  const maybe = z.nullable(z.string());
  return z.object({
    image: maybe,
    role: z.object({ key: z.string(), git: z.string(), ref: maybe, commit: maybe }),
    base: z.object({ image: maybe, digest: maybe }),
    agent: z.string(),
    workspace: maybe,
    workdir: z.string(),
    backend: z.string(),
    mounts: z.array(
      z.object({
        host_path: jsonPathSchema,
        container_path: jsonPathSchema,
        readonly: z.boolean(),
        isolation: z.enum(['shared', 'worktree', 'clone']),
        source,
      }),
    ),
    environment: z.array(
      z.object({
        name: z.string(),
        from: z.enum(['global', 'workspace', 'role', 'workspace_role']),
        kind: z.enum(['literal', 'host', 'secret_store']),
      }),
    ),
  });
}

/** The index of an instance whose folders were named, and of which nothing else is known. */
export function indexOfFolders(mounts: readonly { readonly name: string }[]): RecoveryIndex {
  const origins = mounts.map(({ name }): MountOrigin => ({
    name,
    source: 'named',
    container_path: null,
    isolation: null,
  }));
  return { jackin: null, mounts: origins, left_out: [], cleanup: null, launch: null };
}
