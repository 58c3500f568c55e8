import type { StoredEntry } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { ObjectReader, SnapshotRef } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { SharedTrees } from '../shared-trees.js';
import { readAttributes, readManifest } from '../snapshot-content.js';
import { type KnownSnapshot, know } from '../snapshots.js';
import { withState } from '../state/held-state.js';
import { streamStored } from '../stored-bytes.js';

/**
 * Reads snapshots back in the way that a restore reads them, one after the other and through one process. Directories
 * that one has from those before it are read once: snapshots of a session share most of theirs.
 */
export class ReadBack {
  readonly #context: Pick<Context, 'store' | 'interruption'>;
  readonly #full: boolean;
  readonly #reader: ObjectReader;
  readonly #trees: SharedTrees;
  /** Mounts of which something was read, as `<instance>/<mount>`. */
  readonly #begun = new Set<string>();

  /** @param full reads what is stored by ranges too */
  constructor(context: Pick<Context, 'store' | 'interruption'>, full: boolean) {
    this.#context = context;
    this.#full = full;
    const { store } = context;
    const reader = store.reader();
    this.#reader = reader;
    this.#trees = new SharedTrees({
      reader,
      listTree: (tree, passesOver) => store.listTree(tree, passesOver, reader),
      // Who reads back has asked for all of them together.
      oversizedSnapshots: () => Promise.resolve(new Set()),
    });
  }

  /**
   * Why a restore could not read this snapshot, of which all objects are there and which stands for no more than it can
   * hold; null when it could. A version that is not known is no damage.
   */
  async problemOf(ref: SnapshotRef): Promise<string | null> {
    try {
      await this.#read(ref);
      return null;
    } catch (error) {
      if (isSnapError(error, 'FORMAT_UNKNOWN')) return null;
      if (isSnapError(error, 'STORE_DAMAGED')) return error.message;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  async #read(ref: SnapshotRef): Promise<void> {
    const known = know(ref);
    const manifest = await readManifest(this.#reader, known);
    const all = manifest.state === undefined ? manifest : withState(manifest);
    for (const mount of all.mounts) {
      const name = mount.name as MountName;
      const place = `${ref.instance}/${name}`;
      // The first time, git lists all in a stream; who lists by parts has a whole directory's answers in memory.
      const whole = !this.#begun.has(place) || (this.#full && (await this.#hasRanges(known, name)));
      const { entries } = await this.#trees.read(known, all, name, whole);
      if (this.#full) await this.#readAllByRanges(entries.values());
      this.#begun.add(place);
    }
  }

  /** Such files are read one by one, wherever they lie. */
  async #hasRanges(known: KnownSnapshot, name: MountName): Promise<boolean> {
    const attributes = await readAttributes(this.#reader, known, name);
    return attributes.some(({ size }) => size !== undefined);
  }

  /** That git finds such a blob sound says nothing of what is in it. */
  async #readAllByRanges(entries: Iterable<StoredEntry>): Promise<void> {
    for (const entry of entries) {
      if (entry.kind !== 'file' || entry.byRanges !== true) continue;
      await this.#context.interruption.pause();
      await streamStored(this.#reader, entry, { data: () => undefined, hole: () => undefined });
    }
  }
}
