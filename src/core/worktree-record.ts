import type { HostPath } from './entry-path.js';
import { pathFromJson, pathToJson } from './entry-path.js';
import type { InstanceName, ObjectId } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { onFirstUse } from './on-first-use.js';
import * as z from './schema.js';

/**
 * How far it is: `making` until the command can start, `ready` from then on, `removing` from the moment that its files
 * may go, `removed` when they are gone. A process that was killed leaves it where it was.
 */
export const worktreeStages = ['making', 'ready', 'removing', 'removed'] as const;
export type WorktreeStage = (typeof worktreeStages)[number];

/** What we keep of a worktree that `run --worktree` made. It has an instance of its own, of the same name. */
export interface WorktreeRecord {
  readonly name: InstanceName;
  readonly createdAt: string;
  readonly stage: WorktreeStage;
  /** Where its files lie. */
  readonly path: HostPath;
  /** The folder of the repository that it was made from, and that repository's own directory. */
  readonly repository: HostPath;
  readonly commonDir: HostPath;
  /** Without `refs/heads/`. */
  readonly branch: string;
  readonly baseCommit: ObjectId;
  /** The branch that was checked out in the repository then; null where none was, or its name is not text. */
  readonly baseBranch: string | null;
  /** What the last command in it returned; null while none ended. */
  readonly exitCode: number | null;
}

const objectId = z.string().check(z.regex(/^[0-9a-f]{40}$/));

const recordSchema = onFirstUse(() =>
  z.object({
    format: z.literal('1'),
    name: z.string(),
    created_at: z.string(),
    stage: z.enum(worktreeStages),
    path: jsonPathSchema,
    repository: jsonPathSchema,
    common_dir: jsonPathSchema,
    branch: z.string(),
    base_commit: objectId,
    base_branch: z.nullable(z.string()),
    exit_code: z.nullable(z.int()),
  }),
);

export function worktreeToJson(record: WorktreeRecord): unknown {
  return {
    format: '1',
    name: record.name,
    created_at: record.createdAt,
    stage: record.stage,
    path: pathToJson(record.path),
    repository: pathToJson(record.repository),
    common_dir: pathToJson(record.commonDir),
    branch: record.branch,
    base_commit: record.baseCommit,
    base_branch: record.baseBranch,
    exit_code: record.exitCode,
  };
}

/** @throws z.core.$ZodError for anything that worktreeToJson does not make. */
export function worktreeFromJson(value: unknown): WorktreeRecord {
  const parsed = recordSchema().parse(value);
  return {
    name: parsed.name as InstanceName,
    createdAt: parsed.created_at,
    stage: parsed.stage,
    path: pathFromJson(parsed.path) as HostPath,
    repository: pathFromJson(parsed.repository) as HostPath,
    commonDir: pathFromJson(parsed.common_dir) as HostPath,
    branch: parsed.branch,
    baseCommit: parsed.base_commit as ObjectId,
    baseBranch: parsed.base_branch,
    exitCode: parsed.exit_code,
  };
}
