import type { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';
import type { Reading } from './guarded-directory.js';

/*
 * Which commits no remote has: those that some tips reach and others do not. Commits are read one by one, newest first,
 * each once. Whatever the clocks of those who made them said, a commit counts as had by a remote only when a chain of
 * parents proves it; in doubt it is kept.
 */

export interface UnpushedCommits {
  /** What no remote has, by id. */
  readonly unpushed: ReadonlyMap<ObjectId, Buffer>;
  /** Their parents that a remote has, and what was asked for. */
  readonly boundary: ReadonlyMap<ObjectId, Buffer>;
  /** Commits among those that have parents which are not among them. */
  readonly shallow: readonly ObjectId[];
  readonly unreadable: readonly { readonly oid: ObjectId; readonly reason: 'absent' | 'damaged' }[];
}

export interface UnpushedRequest {
  readonly tips: readonly ObjectId[];
  readonly remotes: readonly ObjectId[];
  /** The tip that is wanted even where a remote has it. */
  readonly wanted: ObjectId | null;
  /** Commits whose parents the repository itself does without. */
  readonly shallow: ReadonlySet<ObjectId>;
  readonly readCommit: (oid: ObjectId) => Reading<Buffer>;
  readonly pause: () => Promise<void>;
  /** How many commits may be read. */
  readonly limit: number;
}

/** Undefined when that many commits may not be read. */
export async function findUnpushed(request: UnpushedRequest): Promise<UnpushedCommits | undefined> {
  return new Walk(request).run();
}

interface Seen {
  readonly oid: ObjectId;
  readonly content: Buffer;
  readonly parents: readonly ObjectId[];
  readonly time: number;
  pushed: boolean;
}

class Walk {
  readonly #request: UnpushedRequest;
  readonly #seen = new Map<ObjectId, Seen>();
  readonly #unreadable = new Map<ObjectId, 'absent' | 'damaged'>();
  readonly #queue: Seen[] = [];
  readonly #queued = new Set<Seen>();
  /** Commits in the queue that no remote is known to have. */
  #open = 0;

  constructor(request: UnpushedRequest) {
    this.#request = request;
  }

  async run(): Promise<UnpushedCommits | undefined> {
    const { tips, remotes, pause, limit } = this.#request;
    for (const oid of remotes) this.#add(oid, true);
    for (const oid of tips) this.#add(oid, false);
    while (this.#open > 0) {
      await pause();
      if (this.#seen.size > limit) return undefined;
      const next = this.#take();
      if (next === undefined) break;
      for (const parent of next.parents) this.#add(parent, next.pushed);
    }
    return this.#result();
  }

  #add(oid: ObjectId, pushed: boolean): void {
    const known = this.#seen.get(oid);
    if (known !== undefined) {
      if (pushed) this.#markPushed(known);
      return;
    }
    const commit = this.#read(oid, pushed);
    if (commit === undefined) return;
    this.#seen.set(oid, commit);
    this.#put(commit);
  }

  /** What turns out to be pushed after all passes that on to the parents that were looked at before. */
  #markPushed(first: Seen): void {
    const stack = [first];
    for (let commit = stack.pop(); commit !== undefined; commit = stack.pop()) {
      if (commit.pushed) continue;
      commit.pushed = true;
      if (this.#queued.has(commit)) this.#open -= 1;
      for (const parent of commit.parents) {
        const seen = this.#seen.get(parent);
        if (seen !== undefined) stack.push(seen);
      }
    }
  }

  #read(oid: ObjectId, pushed: boolean): Seen | undefined {
    const reading = this.#request.readCommit(oid);
    if (reading.kind !== 'read') {
      // What a remote has and we cannot read proves nothing, and is nothing to keep.
      if (!pushed) this.#unreadable.set(oid, reading.kind === 'absent' ? 'absent' : 'damaged');
      return undefined;
    }
    const content = reading.value;
    const { parents, time } = linksOf(content);
    return { oid, content, parents: this.#request.shallow.has(oid) ? [] : parents, time, pushed };
  }

  #put(commit: Seen): void {
    const heap = this.#queue;
    let at = heap.push(commit) - 1;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (timeAt(heap, above) >= commit.time) break;
      heap[at] = heap[above] as Seen;
      at = above;
    }
    heap[at] = commit;
    this.#queued.add(commit);
    if (!commit.pushed) this.#open += 1;
  }

  /** The newest. */
  #take(): Seen | undefined {
    const heap = this.#queue;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (first !== last) sink(heap, last);
    this.#queued.delete(first);
    if (!first.pushed) this.#open -= 1;
    return first;
  }

  #result(): UnpushedCommits {
    const all = [...this.#seen.values()];
    const unpushed = new Map(all.filter(({ pushed }) => !pushed).map(({ oid, content }) => [oid, content]));
    const boundary = this.#boundary();
    const isKept = (oid: ObjectId): boolean => unpushed.has(oid) || boundary.has(oid);
    const isCut = ({ oid, content, parents }: Seen): boolean =>
      boundary.has(oid)
        ? !linksOf(content).parents.every(isKept)
        : parents.length === 0 && linksOf(content).parents.length > 0;
    const shallow = all.filter((commit) => isKept(commit.oid) && isCut(commit)).map(({ oid }) => oid);
    const unreadable = [...this.#unreadable].map(([oid, reason]) => ({ oid, reason }));
    return { unpushed, boundary, shallow: shallow.sort(), unreadable };
  }

  #boundary(): Map<ObjectId, Buffer> {
    const boundary = new Map<ObjectId, Buffer>();
    const { wanted } = this.#request;
    const tips = wanted === null ? [] : [wanted];
    const parents = [...this.#seen.values()].flatMap((commit) => (commit.pushed ? [] : commit.parents));
    for (const oid of [...parents, ...tips]) {
      const seen = this.#seen.get(oid);
      if (seen?.pushed === true) boundary.set(oid, seen.content);
    }
    return boundary;
  }
}

function sink(heap: Seen[], commit: Seen): void {
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && timeAt(heap, below + 1) > timeAt(heap, below)) below += 1;
    if (timeAt(heap, below) <= commit.time) break;
    heap[at] = heap[below] as Seen;
    at = below;
  }
  heap[at] = commit;
}

function timeAt(heap: readonly Seen[], at: number): number {
  return heap[at]?.time ?? 0;
}

/** What a commit's header says; nothing where it is odd. */
export function linksOf(content: Buffer): {
  readonly tree: ObjectId | undefined;
  readonly parents: readonly ObjectId[];
  readonly time: number;
} {
  const end = content.indexOf('\n\n');
  const header = content.toString('latin1', 0, end < 0 ? content.length : end + 1);
  const [, tree, parents = ''] = /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)/.exec(header) ?? [];
  const time = Number(/^committer .*> (\d{1,15}) [+-]\d+$/m.exec(header)?.[1] ?? 0);
  return { tree: tree as ObjectId | undefined, parents: (parents.match(/[0-9a-f]{40}/g) ?? []) as ObjectId[], time };
}
