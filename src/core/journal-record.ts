import type { StoredEntry } from './entry.js';
import { type EntryPath, type HostPath, parseEntryPath, pathFromJson, pathToJson } from './entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { onFirstUse } from './on-first-use.js';
import type { Change } from './restore-plan.js';
import type { KeptPath, SnapshotPointer } from './results.js';
import * as z from './schema.js';

/*
 * The journal of a restore: what it is about to do, written down and made durable before the first path changes.
 * Each change holds the state before and after, so that from what lies on disk it can be told whether it was made.
 */

export interface JournalBegin {
  readonly kind: 'begin';
  /** Names the temporary files of this restore: `.jackin-<id>-<n>`. */
  readonly id: string;
  readonly snapshot: SnapshotPointer;
  readonly emergency: SnapshotPointer;
  readonly mounts: readonly {
    readonly name: MountName;
    readonly path: HostPath;
    readonly dev: bigint;
    readonly ino: bigint;
  }[];
  /** The scope as it was asked for, to know the same restore again. */
  readonly request: string;
}

export type JournalRecord =
  | JournalBegin
  | { readonly kind: 'change'; readonly mount: MountName; readonly change: Change }
  /** `blocked`: paths that differ too, and that the plan could not have. */
  | { readonly kind: 'planned'; readonly changes: number; readonly blocked?: readonly KeptPath[] }
  /** Write permission was lent to a directory whose mode was this. */
  | { readonly kind: 'lent'; readonly mount: MountName; readonly path: EntryPath; readonly mode: number }
  | { readonly kind: 'direction'; readonly direction: 'continue' | 'abort' }
  | { readonly kind: 'done' };

const partSchemas = onFirstUse(() => {
  const pointer = z.object({ instance: z.string(), seq: z.int().check(z.positive()), id: z.string(), ref: z.string() });

  const mode = z.int().check(z.minimum(0), z.maximum(0o7777));
  const owned = { u: z.int().check(z.minimum(0)), g: z.int().check(z.minimum(0)) };
  const content = {
    o: z.string().check(z.regex(/^[0-9a-f]{40}$/)),
    s: z.int().check(z.minimum(0)),
    l: z.optional(jsonPathSchema),
  };

  const state = z.discriminatedUnion('k', [
    z.object({ k: z.literal('file'), m: mode, h: z.boolean(), r: z.optional(z.literal(true)), ...content, ...owned }),
    z.object({ k: z.literal('symlink'), ...content, ...owned }),
    z.object({ k: z.literal('directory'), m: mode, ...owned }),
  ]);

  const kept = z.object({ mount: z.string(), path: jsonPathSchema, reason: z.string() });

  return { pointer, mode, state, kept };
});

const recordSchema = onFirstUse(() => {
  const { pointer, mode, state, kept } = partSchemas();
  return z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('begin'),
      id: z.string().check(z.regex(/^[0-9A-Z]+$/)),
      snapshot: pointer,
      emergency: pointer,
      mounts: z.array(z.object({ name: z.string(), path: jsonPathSchema, device: z.string(), inode: z.string() })),
      request: z.string(),
    }),
    z.object({
      kind: z.literal('change'),
      mount: z.string(),
      path: jsonPathSchema,
      action: z.enum(['create', 'overwrite', 'delete', 'chmod', 'retype']),
      reason: z.string(),
      before: z.nullable(state),
      after: z.nullable(state),
    }),
    z.object({
      kind: z.literal('planned'),
      changes: z.int().check(z.minimum(0)),
      blocked: z.optional(z.array(kept)),
    }),
    z.object({
      kind: z.literal('lent'),
      mount: z.string(),
      path: jsonPathSchema,
      mode,
    }),
    z.object({ kind: z.literal('direction'), direction: z.enum(['continue', 'abort']) }),
    z.object({ kind: z.literal('done') }),
  ]);
});

type Parts = { readonly [Name in keyof ReturnType<typeof partSchemas>]: z.infer<ReturnType<typeof partSchemas>[Name]> };

export function encodeRecord(record: JournalRecord): string {
  switch (record.kind) {
    case 'begin':
      return JSON.stringify({
        ...record,
        mounts: record.mounts.map(({ name, path, dev, ino }) => ({
          name,
          path: pathToJson(path),
          device: String(dev),
          inode: String(ino),
        })),
      });
    case 'change': {
      const { path, action, reason, before, after } = record.change;
      const { kind, mount } = record;
      return JSON.stringify({
        kind,
        mount,
        path: pathToJson(path),
        action,
        reason,
        before: stateToJson(before),
        after: stateToJson(after),
      });
    }
    case 'lent':
      return JSON.stringify({ ...record, path: pathToJson(record.path) });
    case 'planned': {
      const { kind, changes, blocked } = record;
      const named = (blocked ?? []).map((path) => ({ ...path, path: pathToJson(path.path) }));
      return JSON.stringify({ kind, changes, ...(named.length === 0 ? {} : { blocked: named }) });
    }
    case 'direction':
    case 'done':
      return JSON.stringify(record);
  }
}

/** @throws z.core.$ZodError or SyntaxError for anything that encodeRecord does not make. */
export function decodeRecord(text: string): JournalRecord {
  const record = recordSchema().parse(JSON.parse(text));
  switch (record.kind) {
    case 'begin':
      return {
        ...record,
        snapshot: toPointer(record.snapshot),
        emergency: toPointer(record.emergency),
        mounts: record.mounts.map(({ name, path, device, inode }) => ({
          name: name as MountName,
          path: pathFromJson(path) as HostPath,
          dev: BigInt(device),
          ino: BigInt(inode),
        })),
      };
    case 'change': {
      const path = parseEntryPath(pathFromJson(record.path));
      const { action, reason } = record;
      const change = {
        path,
        action,
        reason,
        before: stateFromJson(path, record.before),
        after: stateFromJson(path, record.after),
      };
      return { kind: 'change', mount: record.mount as MountName, change };
    }
    case 'lent':
      return {
        kind: 'lent',
        mount: record.mount as MountName,
        path: parseEntryPath(pathFromJson(record.path)),
        mode: record.mode,
      };
    case 'planned': {
      const { kind, changes, blocked } = record;
      return blocked === undefined ? { kind, changes } : { kind, changes, blocked: blocked.map(toKept) };
    }
    case 'direction':
    case 'done':
      return record;
  }
}

function toPointer(value: Parts['pointer']): SnapshotPointer {
  return {
    instance: value.instance as InstanceName,
    seq: value.seq as Seq,
    id: value.id as SnapshotId,
    ref: value.ref,
  };
}

function toKept({ mount, path, reason }: Parts['kept']): KeptPath {
  return { mount: mount as MountName, path: parseEntryPath(pathFromJson(path)), reason };
}

function stateToJson(entry: StoredEntry | null): Parts['state'] | null {
  if (entry === null) return null;
  const owner = { u: entry.uid, g: entry.gid };
  if (entry.kind === 'directory') return { k: 'directory', m: entry.mode, ...owner };
  const link = entry.linkedTo === undefined ? {} : { l: pathToJson(entry.linkedTo) };
  if (entry.kind === 'symlink') return { k: 'symlink', o: entry.oid, s: entry.size, ...link, ...owner };
  const ranges = entry.byRanges === true ? { r: true as const } : {};
  return { k: 'file', m: entry.mode, o: entry.oid, s: entry.size, h: entry.sparse, ...ranges, ...link, ...owner };
}

function stateFromJson(path: EntryPath, value: Parts['state'] | null): StoredEntry | null {
  if (value === null) return null;
  const base = { path, uid: value.u, gid: value.g };
  if (value.k === 'directory') return { kind: 'directory', mode: value.m, ...base };
  const stored = { oid: value.o as ObjectId, size: value.s };
  const link = value.l === undefined ? {} : { linkedTo: parseEntryPath(pathFromJson(value.l)) };
  if (value.k === 'symlink') return { kind: 'symlink', ...stored, ...link, ...base };
  const ranges = value.r === true ? { byRanges: true } : {};
  return { kind: 'file', mode: value.m, sparse: value.h, ...ranges, ...stored, ...link, ...base };
}

/** The change that takes back this one. */
export function inverse(change: Change): Change {
  const action = change.action === 'create' ? 'delete' : change.action === 'delete' ? 'create' : change.action;
  return { ...change, action, before: change.after, after: change.before };
}
