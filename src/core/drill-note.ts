import type { HostPath } from './entry-path.js';
import { pathFromJson, pathToJson } from './entry-path.js';
import type { SnapshotId } from './ids.js';
import { jsonPathSchema } from './json-path.js';
import { onFirstUse } from './on-first-use.js';
import * as z from './schema.js';

/** That a drill works in a folder of its own, which it removes at its end, unless it is killed. */
export interface DrillNote {
  /** The folder's name, which no other has. */
  readonly name: string;
  readonly parent: HostPath;
  /** The process, in the form of an activity. */
  readonly owner: string;
}

export interface DrillNotes {
  /** Those that can be read. */
  all(): DrillNote[];
  /** Durable when it returns. */
  write(note: DrillNote): void;
  forget(name: string): void;
}

const namePrefix = 'jackin-snap-drill-';

/** @param id one that no other drill has */
export function drillName(id: SnapshotId): string {
  return namePrefix + id;
}

export function isDrillName(name: string): boolean {
  return name.startsWith(namePrefix) && /^[0-9A-Z]{26}$/.test(name.slice(namePrefix.length));
}

const noteSchema = onFirstUse(() => z.object({ format: z.literal('1'), parent: jsonPathSchema, owner: z.string() }));

export function drillNoteToJson({ parent, owner }: DrillNote): unknown {
  return { format: '1', parent: pathToJson(parent), owner };
}

/** @throws z.core.$ZodError for anything that drillNoteToJson does not make. */
export function drillNoteFromJson(name: string, value: unknown): DrillNote {
  const { parent, owner } = noteSchema().parse(value);
  return { name, parent: pathFromJson(parent) as HostPath, owner };
}
