import type { StoredEntry } from '../../core/entry.js';
import type { AttributeLine, ManifestMount } from '../../core/manifest.js';
import type { CapturedTree } from './capture.js';

/** Modes and owner that hold for a mount where nothing else is said. */
export type AttributeDefaults = ManifestMount['defaults'];

/** The commonest modes and owner, so that what is listed are exceptions also under an unusual umask. */
export function usualAttributes(entries: Iterable<StoredEntry>): AttributeDefaults {
  const modes = { file: new Tally<number>(), executable: new Tally<number>(), directory: new Tally<number>() };
  const owners = new Tally<string>();
  for (const entry of entries) {
    owners.add(`${String(entry.uid)}:${String(entry.gid)}`);
    if (entry.kind !== 'symlink') modes[modeClass(entry)].add(entry.mode);
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

export function modeClass(entry: Exclude<StoredEntry, { kind: 'symlink' }>): 'file' | 'executable' | 'directory' {
  if (entry.kind === 'directory') return 'directory';
  return (entry.mode & 0o111) === 0 ? 'file' : 'executable';
}

/** What a git tree and the defaults together do not say, by path. */
export function attributesOf(captured: CapturedTree, defaults: AttributeDefaults): AttributeLine[] {
  const bare = new Set(captured.bare);
  const lines: AttributeLine[] = [];
  for (const entry of captured.entries.values()) {
    const line = {
      ...(bare.has(entry.path) ? { bare: true } : {}),
      ...unusualMode(entry, defaults),
      ...(entry.uid === defaults.uid && entry.gid === defaults.gid ? {} : { uid: entry.uid, gid: entry.gid }),
      ...(entry.kind === 'file' && entry.sparse ? { sparse: true } : {}),
      ...(entry.kind === 'directory' || entry.linkedTo === undefined ? {} : { linkedTo: entry.linkedTo }),
    };
    if (Object.keys(line).length > 0) lines.push({ path: entry.path, ...line });
  }
  return lines;
}

function unusualMode(entry: StoredEntry, defaults: AttributeDefaults): Pick<AttributeLine, 'mode'> {
  return entry.kind === 'symlink' || entry.mode === defaults[modeClass(entry)] ? {} : { mode: entry.mode };
}

class Tally<Value> {
  readonly #counts = new Map<Value, number>();

  add(value: Value): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  commonest(otherwise: Value): Value {
    let best = otherwise;
    let most = 0;
    for (const [value, count] of this.#counts) {
      if (count > most) [best, most] = [value, count];
    }
    return best;
  }
}
