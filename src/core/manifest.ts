import { SnapError } from '../errors.js';
import { type ObservedOnly, leftOutReasons } from './entry.js';
import { type EntryPath, type JsonPath, parseEntryPath, pathFromJson, pathToJson } from './entry-path.js';
import { isMountName } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { type Policy, policySchema, policyToJson } from './policy.js';
import type { MountKind } from './results.js';
import * as z from './schema.js';

/*
 * What a snapshot says of itself beside its files: meta/manifest.json, and for each mount meta/<mount>/observed and
 * meta/<mount>/attributes, one JSON document a line. Only exceptions are listed.
 */

interface ManifestRepository {
  readonly head: string | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  /** Commits that the upstream lacks; absent where that is not known. */
  readonly ahead?: number | undefined;
  readonly dirty: boolean | null;
  readonly operation: string | null;
  readonly unknown: readonly string[];
}

export interface ManifestMount {
  readonly name: string;
  readonly path: JsonPath;
  readonly kind: MountKind;
  /** Which directory it was, in decimal. */
  readonly device: string;
  readonly inode: string;
  readonly repository: ManifestRepository | null;
  readonly nested: readonly (ManifestRepository & { readonly path: JsonPath })[];
  /** Modes and owner that hold where `attributes` says nothing else. */
  readonly defaults: {
    readonly file: number;
    readonly executable: number;
    readonly directory: number;
    readonly uid: number;
    readonly gid: number;
  };
  /** The .git/info/exclude files in force, by the folder that they hold for. */
  readonly exclude_files: readonly { readonly path: JsonPath; readonly content: JsonPath }[];
  /** Folders whose ignore rules could not be read: nothing below them is ever deleted. */
  readonly rules_unknown: readonly JsonPath[];
  /** The stack presets in force, by name; absent where they were the usual ones, or the policy turns stacks off. */
  readonly stacks?: readonly string[] | undefined;
}

/** A stack preset as it was when a snapshot was made. */
export interface ManifestStack {
  readonly name: string;
  /** Lists of names that are all there in a directory of it. */
  readonly detect: readonly (readonly string[])[];
  readonly patterns: readonly string[];
}

export interface ManifestPath {
  readonly mount: string;
  readonly path: JsonPath;
}

export interface Manifest {
  readonly format: '1';
  readonly instance: string;
  readonly seq: number;
  readonly id: string;
  readonly created_at: string;
  readonly trigger: string;
  readonly program: string;
  readonly policy: Policy;
  /** The paths that a save was limited to; null for all. */
  readonly scope: readonly ManifestPath[] | null;
  readonly complete: boolean;
  readonly stats: { readonly files_observed: number; readonly files_stored: number; readonly bytes_stored: number };
  readonly mounts: readonly ManifestMount[];
  /**
   * What the session's agents keep elsewhere, as one more mount that the instance does not have: a restore leaves it
   * alone. Absent where none is stored.
   */
  readonly state?: ManifestMount | undefined;
  /** Why none is stored although it should be: one of `stateMissingReasons`. Absent where that is not so. */
  readonly state_missing?: string | undefined;
  /** The presets that mounts name; absent where none does. */
  readonly stacks?: readonly ManifestStack[] | undefined;
  /** What the restore that made this snapshot was limited to; null where none did. */
  readonly recovery: {
    readonly instance: string;
    readonly seq: number;
    readonly mounts: readonly string[];
    readonly paths: readonly ManifestPath[] | null;
    /** Whether it changed repositories, too. Written only where it did. */
    readonly git_state?: boolean | undefined;
  } | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly instance_record: unknown;
}

const repositorySchema = z.object({
  head: z.nullable(z.string()),
  branch: z.nullable(z.string()),
  upstream: z.nullable(z.string()),
  ahead: z.optional(z.int().check(z.minimum(0))),
  dirty: z.nullable(z.boolean()),
  operation: z.nullable(z.string()),
  unknown: z.array(z.string()),
});

const mode = z.int().check(z.minimum(0), z.maximum(0o7777));
const owner = z.int().check(z.minimum(0));
const count = z.int().check(z.minimum(0));

const mountSchema = z.object({
  // Part of paths on the host: nothing but a name may stand there.
  name: z.string().check(z.refine(isMountName)),
  path: jsonPathSchema,
  kind: z.enum(['plain', 'clone', 'worktree']),
  device: z.string().check(z.regex(/^\d+$/)),
  inode: z.string().check(z.regex(/^\d+$/)),
  repository: z.nullable(repositorySchema),
  nested: z.array(z.extend(repositorySchema, { path: jsonPathSchema })),
  defaults: z.object({ file: mode, executable: mode, directory: mode, uid: owner, gid: owner }),
  exclude_files: z.array(z.object({ path: jsonPathSchema, content: jsonPathSchema })),
  rules_unknown: z.array(jsonPathSchema),
  stacks: z.optional(z.array(z.string())),
});

const stackSchema = z.object({
  name: z.string(),
  detect: z.array(z.array(z.string())),
  patterns: z.array(z.string()),
});

const pathSchema = z.object({ mount: z.string(), path: jsonPathSchema });

const manifestSchema: z.ZodMiniType<Manifest> = z.object({
  format: z.literal('1'),
  instance: z.string(),
  seq: z.int().check(z.positive()),
  id: z.string(),
  created_at: z.string(),
  trigger: z.string(),
  program: z.string(),
  policy: policySchema,
  scope: z.nullable(z.array(pathSchema)),
  complete: z.boolean(),
  stats: z.object({ files_observed: count, files_stored: count, bytes_stored: count }),
  mounts: z.array(mountSchema),
  state: z.optional(mountSchema),
  state_missing: z.optional(z.string()),
  stacks: z.optional(z.array(stackSchema)),
  recovery: z.nullable(
    z.object({
      instance: z.string(),
      seq: z.int(),
      mounts: z.array(z.string()),
      paths: z.nullable(z.array(pathSchema)),
      git_state: z.optional(z.boolean()),
    }),
  ),
  meta: z.record(z.string(), z.string()),
  instance_record: z.unknown(),
});

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ ...manifest, policy: policyToJson(manifest.policy) }, null, 1)}\n`, 'utf8');
}

/** @throws SnapError STORE_DAMAGED, or FORMAT_UNKNOWN for a version that this program does not know. */
export function decodeManifest(content: Buffer, snapshot: string): Manifest {
  const value = parseJson(content.toString('utf8'));
  const format = z.object({ format: z.string() }).safeParse(value);
  if (format.success && format.data.format !== '1') throw unknownFormat(snapshot, format.data.format);
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SnapError(
    'STORE_DAMAGED',
    `The manifest of snapshot ${snapshot} cannot be read: ${z.prettifyError(parsed.error)}`,
    {
      problem: 'manifest',
    },
  );
}

export function unknownFormat(snapshot: string, format: string): SnapError<'FORMAT_UNKNOWN'> {
  return new SnapError(
    'FORMAT_UNKNOWN',
    `Snapshot ${snapshot} is written in format ${JSON.stringify(format)}, which this version does not know.`,
    {
      snapshot,
      format,
    },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A path whose mode, owner, links or emptiness a git tree cannot say. */
export interface AttributeLine {
  readonly path: EntryPath;
  /** Set for a directory that the tree does not show, since nothing below it is stored. */
  readonly bare?: boolean;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly sparse?: boolean;
  /** Set for a file that is stored by its data ranges: its size, which its blob does not have. */
  readonly size?: number;
  readonly linkedTo?: EntryPath;
}

const attributeSchema = z.object({
  path: jsonPathSchema,
  bare: z.optional(z.boolean()),
  mode: z.optional(z.int().check(z.minimum(0), z.maximum(0o7777))),
  uid: z.optional(z.int().check(z.minimum(0))),
  gid: z.optional(z.int().check(z.minimum(0))),
  sparse: z.optional(z.boolean()),
  size: z.optional(z.int().check(z.minimum(0))),
  linked_to: z.optional(jsonPathSchema),
});

export function encodeAttributes(lines: readonly AttributeLine[]): Buffer {
  return encodeLines(lines, ({ path, linkedTo, ...rest }) => ({
    path: pathToJson(path),
    ...rest,
    ...(linkedTo === undefined ? {} : { linked_to: pathToJson(linkedTo) }),
  }));
}

export function decodeAttributes(content: Buffer): AttributeLine[] {
  return decodeLines(content, 'attributes', (value) => {
    const { path, linked_to: linkedTo, bare, mode, uid, gid, sparse, size } = attributeSchema.parse(value);
    return {
      path: toPath(path),
      ...(bare === undefined ? {} : { bare }),
      ...(mode === undefined ? {} : { mode }),
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
      ...(sparse === undefined ? {} : { sparse }),
      ...(size === undefined ? {} : { size }),
      ...(linkedTo === undefined ? {} : { linkedTo: toPath(linkedTo) }),
    };
  });
}

/** A line of `observed`: a path that was left out, a directory that was not listed to its end, or an absent path. */
export type ObservedLine =
  ObservedOnly | { readonly path: EntryPath; readonly reason: 'incomplete' | 'absent'; readonly directory: boolean };

const observedSchema = z.object({
  path: jsonPathSchema,
  reason: z.enum([...leftOutReasons, 'incomplete', 'absent']),
  directory: z.optional(z.boolean()),
});

export function encodeObserved(lines: readonly ObservedLine[]): Buffer {
  return encodeLines(lines, ({ path, reason, directory }) => ({
    path: pathToJson(path),
    reason,
    ...(directory ? { directory } : {}),
  }));
}

export function decodeObserved(content: Buffer): ObservedLine[] {
  return decodeLines(content, 'observed', (value) => {
    const { path, reason, directory } = observedSchema.parse(value);
    return { path: toPath(path), reason, directory: directory ?? false };
  });
}

function toPath(path: JsonPath): EntryPath {
  return parseEntryPath(pathFromJson(path));
}

function encodeLines<T>(lines: readonly T[], encode: (line: T) => unknown): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(encode(line))}\n`).join(''), 'utf8');
}

function decodeLines<T>(content: Buffer, file: string, decode: (value: unknown) => T): T[] {
  try {
    return content
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => decode(JSON.parse(line)));
  } catch (cause) {
    throw new SnapError(
      'STORE_DAMAGED',
      `The ${file} list of a snapshot cannot be read.`,
      { problem: file },
      { cause },
    );
  }
}
