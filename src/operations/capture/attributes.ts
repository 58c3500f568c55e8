import type { StoredEntry, StoredFile } from '../../core/entry.js';
import type { AttributeLine, ManifestMount } from '../../core/manifest.js';
import type { RecordedPart } from '../../core/ports.js';
import type { CapturedTree } from './capture.js';

/** Modes and owner that hold for a mount where nothing else is said. */
export type AttributeDefaults = ManifestMount['defaults'];

/** The commonest modes and owner, so that what is listed are exceptions also under an unusual umask. */
export function usualAttributes(
  entries: Iterable<StoredEntry>,
  grafted: Iterable<RecordedPart> = [],
): AttributeDefaults {
  const modes = { file: new Tally<number>(), executable: new Tally<number>(), directory: new Tally<number>() };
  const owners = new Tally<string>();
  for (const entry of entries) {
    owners.add(`${String(entry.uid)}:${String(entry.gid)}`);
    if (entry.kind !== 'symlink') modes[modeClass(entry)].add(entry.mode);
  }
  for (const part of grafted) {
    for (const { mode, uid, gid, count } of part.tally().alike) {
      owners.add(`${String(uid)}:${String(gid)}`, count);
      const kind = kindOf(mode);
      if (kind !== 'symlink') modes[modeClass({ kind, mode: mode & 0o7777 })].add(mode & 0o7777, count);
    }
  }
  const [uid, gid] = owners.commonest('0:0').split(':');
  return {
    file: modes.file.commonest(0o644),
    executable: modes.executable.commonest(0o755),
    directory: modes.directory.commonest(0o755),
    uid: Number(uid),
    gid: Number(gid),
  };
}

function kindOf(mode: number): 'file' | 'directory' | 'symlink' {
  const type = mode & 0o170000;
  return type === 0o040000 ? 'directory' : type === 0o120000 ? 'symlink' : 'file';
}

export function modeClass(entry: {
  readonly kind: 'file' | 'directory';
  readonly mode: number;
}): 'file' | 'executable' | 'directory' {
  if (entry.kind === 'directory') return 'directory';
  return (entry.mode & 0o111) === 0 ? 'file' : 'executable';
}

/** What a git tree and the defaults together do not say of what was walked, by path. */
export function attributesOf(captured: CapturedTree, defaults: AttributeDefaults): AttributeLine[] {
  const bare = new Set(captured.bare);
  const lines: AttributeLine[] = [];
  for (const entry of captured.entries.values()) {
    const line = {
      ...(bare.has(entry.path) ? { bare: true } : {}),
      ...unusualMode(entry, defaults),
      ...(entry.uid === defaults.uid && entry.gid === defaults.gid ? {} : { uid: entry.uid, gid: entry.gid }),
      ...(entry.kind === 'file' ? formOf(entry) : {}),
      ...(entry.kind === 'directory' || entry.linkedTo === undefined ? {} : { linkedTo: entry.linkedTo }),
    };
    if (Object.keys(line).length > 0) lines.push({ path: entry.path, ...line });
  }
  return lines;
}

function unusualMode(entry: StoredEntry, defaults: AttributeDefaults): Pick<AttributeLine, 'mode'> {
  return entry.kind === 'symlink' || entry.mode === defaults[modeClass(entry)] ? {} : { mode: entry.mode };
}

function formOf({ sparse, byRanges, size }: StoredFile): Pick<AttributeLine, 'sparse' | 'size'> {
  return { ...(sparse ? { sparse } : {}), ...(byRanges === true ? { size } : {}) };
}

class Tally<Value extends number | string> {
  readonly #counts = new Map<Value, number>();

  add(value: Value, count = 1): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + count);
  }

  commonest(otherwise: Value): Value {
    let best = otherwise;
    let most = 0;
    for (const [value, count] of this.#counts) {
      // Of two that are as common, the same one in whatever order they were met.
      if (count > most || (count === most && value < best)) [best, most] = [value, count];
    }
    return best;
  }
}
