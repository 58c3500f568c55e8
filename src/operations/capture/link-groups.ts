import type { EntryStat } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { Captured } from './level.js';

/** Finds the paths of a walk that are one inode: a group, known by its first path. */
export class LinkGroups {
  readonly #paths = new Map<string, EntryPath[]>();

  note(path: EntryPath, stat: EntryStat): void {
    if (stat.nlink < 2) return;
    const inode = `${String(stat.dev)}:${String(stat.ino)}`;
    const group = this.#paths.get(inode);
    if (group === undefined) this.#paths.set(inode, [path]);
    else group.push(path);
  }

  /** Marks the entries of each group. */
  join(entries: Map<EntryPath, Captured>): void {
    for (const paths of this.#paths.values()) {
      const sorted = paths.sort();
      const [linkedTo] = sorted;
      if (linkedTo === undefined || sorted.length < 2) continue;
      for (const path of sorted) {
        const entry = entries.get(path);
        if (entry !== undefined && entry.kind !== 'directory') entries.set(path, { ...entry, linkedTo });
      }
    }
  }
}
