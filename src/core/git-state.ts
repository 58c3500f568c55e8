import { SnapError } from '../errors.js';
import type { JsonPath } from './entry-path.js';
import { type ObjectId, parseObjectId } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { onFirstUse } from './on-first-use.js';
import * as z from './schema.js';

/*
 * What only a mount's own repository held, as a snapshot keeps it: meta/mounts/<mount>/git/state.json. The objects lie
 * beside it. Names and texts of git's are bytes, as JSON paths.
 */

export const missingReasons = ['secret', 'too_large', 'limit', 'absent', 'damaged', 'too_deep'] as const;
export type MissingReason = (typeof missingReasons)[number];

/** An object that is needed and was not taken in. */
export interface MissingObject {
  readonly object: ObjectId;
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  /** In its tree; null where it is none of a tree. */
  readonly path: JsonPath | null;
  readonly reason: MissingReason;
}

export type HeadState = { readonly branch: JsonPath } | { readonly commit: ObjectId };

export interface BranchState {
  readonly name: JsonPath;
  readonly commit: ObjectId;
  readonly upstream: { readonly remote: JsonPath; readonly merge: JsonPath } | null;
}

export interface StashState {
  readonly commit: ObjectId;
  /** Name, mail and time as in a reflog. */
  readonly who: JsonPath;
  readonly message: JsonPath;
}

export const indexFlags = ['assume-valid', 'skip-worktree', 'intent-to-add'] as const;
export type IndexFlag = (typeof indexFlags)[number];

export interface StagedEntry {
  readonly path: JsonPath;
  /** Octal. */
  readonly mode: string;
  readonly object: ObjectId;
  readonly stage: number;
  readonly flags: readonly IndexFlag[];
}

export interface IndexState {
  /** What is staged for a commit. */
  readonly tree: ObjectId;
  /** What a tree cannot say: conflicts and flags. */
  readonly entries: readonly StagedEntry[];
}

export interface GitState {
  readonly format: '1';
  readonly fingerprint: string;
  readonly include_secrets: boolean;
  readonly head: HeadState | null;
  readonly branches: readonly BranchState[];
  readonly tags: readonly { readonly name: JsonPath; readonly object: ObjectId }[];
  readonly remotes: readonly { readonly name: JsonPath; readonly url: JsonPath }[];
  readonly remote_branches: readonly { readonly name: JsonPath; readonly commit: ObjectId }[];
  /** Commits that are kept without their parents. */
  readonly shallow: readonly ObjectId[];
  /** Newest first. */
  readonly stashes: readonly StashState[];
  readonly operation: string | null;
  readonly operation_commits: readonly { readonly name: string; readonly commit: ObjectId }[];
  readonly index: IndexState | null;
  readonly missing: readonly MissingObject[];
  readonly missing_total: number;
  /** Parts that are not protected, and why, in sentences without a full stop. */
  readonly problems: readonly string[];
  /** How many commits no remote has. */
  readonly commits: number;
  readonly bytes: number;
}

export const missingListed = 1000;

const objectId = z.pipe(z.string().check(z.regex(/^[0-9a-f]{40}$/)), z.transform(parseObjectId));
const count = z.int().check(z.minimum(0));
const path = jsonPathSchema;

const stateSchema = onFirstUse(() =>
  z.object({
    format: z.literal('1'),
    fingerprint: z.string(),
    include_secrets: z.boolean(),
    head: z.nullable(z.union([z.object({ branch: path }), z.object({ commit: objectId })])),
    branches: z.array(
      z.object({ name: path, commit: objectId, upstream: z.nullable(z.object({ remote: path, merge: path })) }),
    ),
    tags: z.array(z.object({ name: path, object: objectId })),
    remotes: z.array(z.object({ name: path, url: path })),
    remote_branches: z.array(z.object({ name: path, commit: objectId })),
    shallow: z.array(objectId),
    stashes: z.array(z.object({ commit: objectId, who: path, message: path })),
    operation: z.nullable(z.string()),
    operation_commits: z.array(z.object({ name: z.string().check(z.regex(/^[A-Z_]+$/)), commit: objectId })),
    index: z.nullable(
      z.object({
        tree: objectId,
        entries: z.array(
          z.object({
            path,
            mode: z.string().check(z.regex(/^[0-7]{5,6}$/)),
            object: objectId,
            stage: z.int().check(z.minimum(0), z.maximum(3)),
            flags: z.array(z.enum(indexFlags)),
          }),
        ),
      }),
    ),
    missing: z.array(
      z.object({
        object: objectId,
        type: z.enum(['commit', 'tree', 'blob', 'tag']),
        path: z.nullable(path),
        reason: z.enum(missingReasons),
      }),
    ),
    missing_total: count,
    problems: z.array(z.string()),
    commits: count,
    bytes: count,
  }),
);

export function encodeGitState(state: GitState): Buffer {
  return Buffer.from(`${JSON.stringify(state, null, 1)}\n`, 'utf8');
}

/** @throws SnapError STORE_DAMAGED, or FORMAT_UNKNOWN for a version that this program does not know */
export function decodeGitState(content: Buffer, snapshot: string): GitState {
  const value = parseJson(content.toString('utf8'));
  const format = z.object({ format: z.string() }).safeParse(value);
  if (format.success && format.data.format !== '1')
    throw new SnapError(
      'FORMAT_UNKNOWN',
      `The git state in snapshot ${snapshot} is written in format ${JSON.stringify(format.data.format)}, which this version does not know.`,
      { snapshot, format: format.data.format },
    );
  const parsed = stateSchema().safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SnapError(
    'STORE_DAMAGED',
    `The git state in snapshot ${snapshot} cannot be read: ${z.prettifyError(parsed.error)}`,
    { problem: 'git state' },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether all that was asked for was taken in, but for secrets, which are left out by rule. */
export function isWholeGitState(state: Pick<GitState, 'problems' | 'missing' | 'missing_total'>): boolean {
  return (
    state.problems.length === 0 &&
    state.missing_total === state.missing.length &&
    state.missing.every(({ reason }) => reason === 'secret')
  );
}

/** A remote's URL without user name and password, which are nobody's business but git's. */
export function withoutCredentials(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
    .replace(/([?&][^=&#]*(?:token|key|secret|password)[^=&#]*=)[^&#]*/gi, '$1');
}

/** What was taken in of a repository, by the id that it has there. Values are the blobs that commits and the like became. */
export interface ProtectedObjects {
  readonly commits: ReadonlyMap<ObjectId, ObjectId>;
  readonly tags: ReadonlyMap<ObjectId, ObjectId>;
  readonly rawTrees: ReadonlyMap<ObjectId, ObjectId>;
  readonly trees: ReadonlySet<ObjectId>;
  readonly blobs: ReadonlySet<ObjectId>;
}
