import type { Buffer } from 'node:buffer';

import type { EntryStat } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type {
  RecordedDirectory,
  RecordedFile,
  RecordedSubtree,
  StatCacheNotes,
  StatCacheRecorder,
} from '../../core/ports.js';
import { encodeNotes } from './notes.js';
import { fullMode, timesOf } from './recorded-stat.js';
import { OwnFiles, Subtree } from './recorded-subtree.js';
import { TableBuilder } from './table-builder.js';
import { firm, shown } from './table.js';

/** Records a walk in progress, directory by directory. */
export class CacheRecorder implements StatCacheRecorder {
  readonly #dev: bigint;
  readonly #table = new TableBuilder();
  readonly #rules = new Map<string, number>();
  /** What the numbers of rules in the cache that subtrees are taken over from are here. */
  readonly #adopted = new Map<number, number>();
  /** Rows of the directories that the walk is in. */
  readonly #open: number[] = [];

  constructor(dev: bigint) {
    this.#dev = dev;
  }

  enter(path: EntryPath, stat: EntryStat, rules: string): void {
    const row = this.#table.addDirectory({
      ino: Number(stat.ino),
      mode: fullMode(stat),
      uid: stat.uid,
      gid: stat.gid,
      ...timesOf(stat),
      textStart: this.#table.addText(path),
      textLength: path.length,
      fileStart: this.#table.fileCount,
      rules: this.#numberOf(rules),
    });
    this.#open.push(row);
  }

  leave(
    files: readonly RecordedFile[],
    tree: ObjectId | undefined,
    isFirm: boolean,
    adopted: RecordedDirectory | undefined,
  ): void {
    const row = this.#open.pop() as number;
    const ownStart = this.#table.fileCount;
    if (adopted instanceof OwnFiles) this.#table.copyFiles(adopted.table, adopted.fileRows);
    for (const file of files) this.#add(file);
    this.#table.setDirectory(
      row,
      {
        ownStart,
        fileEnd: this.#table.fileCount,
        directoryEnd: this.#table.directoryCount,
        textEnd: this.#table.textLength,
        flags: (isFirm ? firm : 0) | (tree === undefined ? 0 : shown),
      },
      tree,
    );
  }

  /** All subtrees that a recorder adopts come from one cache. */
  adopt(subtree: RecordedSubtree): void {
    if (!(subtree instanceof Subtree)) return;
    this.#table.copySubtree(subtree.table, subtree.row, (number) => {
      const known = this.#adopted.get(number) ?? this.#numberOf(subtree.rules[number] as string);
      this.#adopted.set(number, known);
      return known;
    });
  }

  /** The whole table, once the walk is over. */
  finish(notes: StatCacheNotes): Buffer {
    return this.#table.finish(this.#dev, encodeNotes({ ...notes, rules: [...this.#rules.keys()] }));
  }

  #add({ name, stat, oid }: RecordedFile): void {
    const values = {
      ino: Number(stat.ino),
      size: stat.size,
      mode: fullMode(stat),
      uid: stat.uid,
      gid: stat.gid,
      nlink: stat.nlink,
      ...timesOf(stat),
      textStart: this.#table.addText(name),
      textLength: name.length,
    };
    this.#table.addFile(values, oid);
  }

  #numberOf(rules: string): number {
    const known = this.#rules.get(rules);
    if (known !== undefined) return known;
    const number = this.#rules.size;
    this.#rules.set(rules, number);
    return number;
  }
}
