import * as z from '../schema.js';

export const isolationVersion = 1;

/** A mount that jackin gave a worktree or clone of its own (`.jackin/isolation.json`, version 1). Paths are text. */
export interface IsolationRecord {
  readonly mount_dst: string;
  readonly original_src: string;
  readonly isolation: 'shared' | 'worktree' | 'clone';
  /** Where the worktree, or the clone, lies on the host; empty for a shared mount. */
  readonly worktree_path: string;
  readonly scratch_branch?: string | null | undefined;
  readonly base_commit?: string | null | undefined;
  readonly cleanup_status?: string | null | undefined;
}

export interface IsolationFile {
  readonly version: 1;
  readonly records: readonly IsolationRecord[];
}

const absolute = z.string().check(z.startsWith('/', 'it must be an absolute path'));

const recordSchema = z.object({
  mount_dst: absolute,
  original_src: absolute,
  isolation: z.enum(['shared', 'worktree', 'clone']),
  worktree_path: z.union([z.literal(''), absolute]),
  scratch_branch: z.nullish(z.string()),
  base_commit: z.nullish(z.string()),
  cleanup_status: z.nullish(z.string()),
});

export const isolationFileSchema: z.ZodMiniType<IsolationFile> = z.object({
  version: z.literal(isolationVersion),
  records: z._default(z.array(recordSchema), []),
});
