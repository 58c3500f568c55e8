import type { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';
import { isSnapError } from '../../errors.js';
import type { BatchReader } from '../objects.js';
import { decodeTree } from '../pack/format.js';
import type { GitCommand, GitRunner } from '../run-git.js';

/*
 * Which object leads to which, and what each takes on the disk. An object is a number here: its place in the list of
 * all that the store has, so that a snapshot's whole content is a walk over numbers.
 */

export class ObjectGraph {
  /** What git takes for each on the disk: compressed, or as a delta. */
  readonly sizes: number[] = [];
  readonly #numbers = new Map<ObjectId, number>();
  /** For trees that were read: what they hold. */
  readonly #below = new Map<number, Int32Array>();
  /** Objects that are needed, and not there or not to be read. */
  missing = 0;

  /** Lists what is in the store. One git process. */
  static async read(git: GitRunner): Promise<ObjectGraph> {
    const graph = new ObjectGraph();
    const format = '--batch-check=%(objectname) %(objectsize:disk)';
    const command: GitCommand = { args: ['cat-file', '--batch-all-objects', '--unordered', format, '--buffer'] };
    const running = await git.start(command);
    let rest = '';
    for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) graph.#add(line.slice(0, 40) as ObjectId, Number(line.slice(41)));
    }
    const { exitCode, stderr } = await running.end;
    if (exitCode !== 0 || rest !== '') throw git.failure(command, exitCode, stderr);
    return graph;
  }

  #add(oid: ObjectId, size: number): void {
    if (this.#numbers.has(oid)) return;
    this.#numbers.set(oid, this.sizes.length);
    this.sizes.push(size);
  }

  /** The number of the object; undefined when it is not there. */
  numberOf(oid: ObjectId): number | undefined {
    return this.#numbers.get(oid);
  }

  /** Reads the trees below, each once, however many lead to it: level by level, so that git works ahead. */
  async readBelow(reader: BatchReader, trees: readonly ObjectId[]): Promise<void> {
    for (let level = this.#unread(trees); level.length > 0;) {
      reader.expect(level);
      const next: ObjectId[] = [];
      for (const oid of level) for (const tree of await this.#readTree(reader, oid)) next.push(tree);
      level = this.#unread(next);
    }
  }

  #unread(trees: readonly ObjectId[]): ObjectId[] {
    const isUnread = (oid: ObjectId): boolean => !this.#below.has(this.#numbers.get(oid) ?? -1);
    return [...new Set(trees)].filter(isUnread);
  }

  /** @returns the trees in it */
  async #readTree(reader: BatchReader, oid: ObjectId): Promise<readonly ObjectId[]> {
    const number = this.#numbers.get(oid);
    const entries = number === undefined ? undefined : await entriesOf(reader, oid);
    if (number === undefined || entries === undefined) {
      this.missing += 1;
      if (number !== undefined) this.#below.set(number, new Int32Array());
      return [];
    }
    const numbers = entries.map((entry) => this.#numbers.get(entry.oid));
    this.missing += numbers.filter((inside) => inside === undefined).length;
    this.#below.set(number, Int32Array.from(numbers.filter((inside) => inside !== undefined)));
    return entries.filter(({ mode }) => mode === 0o40000).map((entry) => entry.oid);
  }

  /** Calls `visit` for each object that these lead to, themselves included, where it says true also for those below. */
  walk(from: readonly number[], visit: (number: number) => boolean): void {
    const waiting = [...from];
    for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
      if (!visit(number)) continue;
      const below = this.#below.get(number);
      if (below !== undefined) for (const inside of below) waiting.push(inside);
    }
  }
}

async function entriesOf(reader: BatchReader, oid: ObjectId): Promise<ReturnType<typeof decodeTree> | undefined> {
  try {
    return decodeTree((await reader.read(oid, 'tree')).content);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    return undefined;
  }
}
