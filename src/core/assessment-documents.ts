import * as z from 'zod';

import type { Verdict } from './assessment.js';
import { count, instanceSchema, maybeText, objectId, pathSchema, pointerSchema, text } from './document-fields.js';
import type { InstanceData, PointerData } from './documents.js';
import type { JsonPath } from './entry-path.js';
import { exitPolicies } from './policy.js';

/*
 * The documents of `assess`, `keep`, `discard` and `resume`, with their schemas.
 */

export interface RiskData {
  readonly branch: JsonPath | null;
  readonly why: string;
}

export interface AssessedRepositoryData {
  readonly path: JsonPath;
  readonly verdict: Verdict;
  readonly risks: readonly RiskData[];
  readonly base_commit: string | null;
  readonly head: string | null;
  readonly branch: JsonPath | null;
  readonly detached: boolean | null;
  readonly branches: readonly {
    readonly name: JsonPath;
    readonly tip: string;
    readonly current: boolean;
    readonly upstream: JsonPath | null;
    readonly gone: boolean;
    readonly ahead: number | null;
    /** Whether a remote-tracking ref reaches the tip; null where the upstream is such a ref, or there is none. */
    readonly held: boolean | null;
    /** The repository's, and not this worktree's: no risk. */
    readonly elsewhere: boolean;
  }[];
  readonly stashes: number | null;
  readonly operation: string | null;
}

export interface AssessmentData {
  readonly instance: string;
  readonly verdict: Verdict;
  readonly mounts: readonly {
    readonly name: string;
    readonly path: JsonPath;
    readonly kind: 'plain' | 'clone' | 'worktree' | null;
    readonly isolation: 'shared' | 'worktree' | 'clone';
    readonly verdict: Verdict;
    readonly risks: readonly RiskData[];
    readonly repositories: readonly AssessedRepositoryData[];
    readonly dirty_files: number;
    /** Only with --files. */
    readonly files?: readonly { readonly path: JsonPath; readonly status: string }[] | undefined;
    readonly compared_with: PointerData | null;
  }[];
  /** What an acknowledgement names: a mount, or mount:branch. */
  readonly at_risk: readonly { readonly name: string; readonly why: readonly string[] }[];
  readonly latest: PointerData | null;
  readonly exit_policy: 'ask' | 'keep' | 'discard';
}

export interface DiscardData {
  readonly instance: InstanceData;
  readonly assessment: AssessmentData;
  readonly snapshot: PointerData | null;
  readonly worktree: { readonly name: string; readonly branch: JsonPath; readonly branch_stays: boolean } | null;
}

export interface MountSinceSavedData {
  readonly name: string;
  readonly path: JsonPath;
  readonly state: 'as_saved' | 'changed' | 'gone' | 'another_folder' | 'unknown';
  readonly changed: number;
  readonly compared_with: PointerData | null;
}

export interface KeepData {
  readonly instance: InstanceData;
  readonly mounts: readonly MountSinceSavedData[];
}

export interface ResumeData {
  readonly instance: InstanceData;
  readonly kept: { readonly decided_at: string; readonly note: string | null } | null;
  readonly latest: PointerData | null;
  readonly mounts: readonly MountSinceSavedData[];
  readonly container: string | null;
}

const verdict = z.enum(['clean', 'saved', 'dirty', 'unpushed']);
const risks = z.array(z.object({ branch: pathSchema.nullable(), why: text }));

const repository = z.object({
  path: pathSchema,
  verdict,
  risks,
  base_commit: objectId.nullable(),
  head: objectId.nullable(),
  branch: pathSchema.nullable(),
  detached: z.boolean().nullable(),
  branches: z.array(
    z.object({
      name: pathSchema,
      tip: objectId,
      current: z.boolean(),
      upstream: pathSchema.nullable(),
      gone: z.boolean(),
      ahead: count.nullable(),
      held: z.boolean().nullable(),
      elsewhere: z.boolean(),
    }),
  ),
  stashes: count.nullable(),
  operation: maybeText,
});

export const assessmentDataSchema: z.ZodType<AssessmentData> = z.object({
  instance: text,
  verdict,
  mounts: z.array(
    z.object({
      name: text,
      path: pathSchema,
      kind: z.enum(['plain', 'clone', 'worktree']).nullable(),
      isolation: z.enum(['shared', 'worktree', 'clone']),
      verdict,
      risks,
      repositories: z.array(repository),
      dirty_files: count,
      files: z.array(z.object({ path: pathSchema, status: text.length(2) })).optional(),
      compared_with: pointerSchema.nullable(),
    }),
  ),
  at_risk: z.array(z.object({ name: text, why: z.array(text) })),
  latest: pointerSchema.nullable(),
  exit_policy: z.enum(exitPolicies),
});

export const discardDataSchema: z.ZodType<DiscardData> = z.object({
  instance: instanceSchema,
  assessment: assessmentDataSchema,
  snapshot: pointerSchema.nullable(),
  worktree: z.object({ name: text, branch: pathSchema, branch_stays: z.boolean() }).nullable(),
});

const sinceSaved = z.array(
  z.object({
    name: text,
    path: pathSchema,
    state: z.enum(['as_saved', 'changed', 'gone', 'another_folder', 'unknown']),
    changed: count,
    compared_with: pointerSchema.nullable(),
  }),
);

export const keepDataSchema: z.ZodType<KeepData> = z.object({ instance: instanceSchema, mounts: sinceSaved });

export const resumeDataSchema: z.ZodType<ResumeData> = z.object({
  instance: instanceSchema,
  kept: z.object({ decided_at: z.iso.datetime(), note: maybeText }).nullable(),
  latest: pointerSchema.nullable(),
  mounts: sinceSaved,
  container: maybeText,
});
