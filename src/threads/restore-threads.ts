import { Buffer } from 'node:buffer';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { SHARE_ENV, Worker } from 'node:worker_threads';

import type { StoredFile } from '../core/entry.js';
import type { EntryPath } from '../core/entry-path.js';
import type { Directory } from '../core/ports.js';
import type { MadeFile, RestoreThreads } from '../core/restore-threads.js';
import { systemCode } from '../errors.js';
import { readRegularFile } from '../fs/regular-file.js';
import { namesIn } from '../git/names-in.js';
import { PackIndex } from '../git/pack/index-file.js';
import { type Batch, type MakeJob, type Outcomes, done, ownerRefused } from './jobs.js';
import { madeAtMost } from './make-files.js';

/** The compiled `restore-worker`. */
const usualScript = new URL('./restore-worker.js', import.meta.url);

/** More would wait for each other: files are made in one directory. */
const threadsAtMost = 2;
/** What a batch needs is garbage after it: it need not pile up. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

const madeTogether = 64;
const confirmedTogether = 512;

/**
 * Threads for a large restore, over the packs as they are now. They only take work off: what they cannot do, or do not
 * get to since they end, is answered as not done.
 */
export function startRestoreThreads(packDirectory: string, script: URL = usualScript): RestoreThreads {
  return new Threads(packDirectory, script);
}

interface Pack {
  readonly path: string;
  readonly index: PackIndex;
}

type Answer = (outcomes: Outcomes | undefined) => void;

interface Gathering {
  readonly pack: string;
  readonly directory: string;
  readonly jobs: MakeJob[];
  readonly answers: ((outcome: MadeFile) => void)[];
}

class Threads implements RestoreThreads {
  readonly #packs: readonly Pack[];
  readonly #threads: readonly Thread[];
  #gathering: Gathering | undefined;

  constructor(packDirectory: string, script: URL) {
    this.#packs = readPacks(packDirectory);
    const count = Math.min(threadsAtMost, availableParallelism());
    this.#threads = Array.from({ length: count }, () => new Thread(script));
  }

  takes({ oid, size, sparse, byRanges }: StoredFile): boolean {
    return byRanges !== true && !sparse && size <= madeAtMost && this.#find(oid) !== undefined;
  }

  make(directory: Directory, name: string, { oid, size, mode, uid, gid }: StoredFile): Promise<MadeFile> {
    const place = this.#find(oid);
    if (place === undefined) return Promise.resolve('not_made');
    const { pack, offset } = place;
    const { descriptorPath } = directory;
    if (this.#gathering?.pack !== pack || this.#gathering.directory !== descriptorPath) this.flush();
    const gathering = (this.#gathering ??= { pack, directory: descriptorPath, jobs: [], answers: [] });
    gathering.jobs.push({ offset, oid, size, name, mode, uid, gid });
    const made = new Promise<MadeFile>((resolve) => gathering.answers.push(resolve));
    if (gathering.jobs.length === madeTogether) this.flush();
    return made;
  }

  flush(): void {
    const gathering = this.#gathering;
    this.#gathering = undefined;
    if (gathering === undefined) return;
    const { answers, ...batch } = gathering;
    this.#least.give({ kind: 'make', ...batch }, (outcomes) => {
      answers.forEach((answer, at) => {
        answer(outcomes?.[at] === done ? 'made' : outcomes?.[at] === ownerRefused ? 'owner_refused' : 'not_made');
      });
    });
  }

  async confirm(root: Directory, files: readonly StoredFile[]): Promise<ReadonlySet<EntryPath>> {
    const confirmed = new Set<EntryPath>();
    // The descriptor is a link to the directory; with the dot, it is the directory.
    const directory = `${root.descriptorPath}/.`;
    const batches = inBatches(files.filter(({ byRanges, size }) => byRanges !== true && size <= madeAtMost));
    // What is asked for is in memory twice: no more than keeps a thread at work.
    const ask = async (): Promise<void> => {
      for (const batch of batches) {
        const jobs = batch.map(({ path, oid, size, mode, uid, gid }) => ({ path, oid, size, mode, uid, gid }));
        const outcomes = await this.#ask({ kind: 'confirm', root: directory, jobs });
        batch.forEach(({ path }, at) => outcomes?.[at] === done && confirmed.add(path));
      }
    };
    await Promise.all(Array.from({ length: 2 * this.#threads.length }, ask));
    return confirmed;
  }

  async end(): Promise<void> {
    this.flush();
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #ask(batch: Batch): Promise<Outcomes | undefined> {
    return new Promise((resolve) => {
      this.#least.give(batch, resolve);
    });
  }

  get #least(): Thread {
    return this.#threads.reduce((least, thread) => (thread.waiting < least.waiting ? thread : least));
  }

  #find(oid: string): { pack: string; offset: number } | undefined {
    const id = Buffer.from(oid, 'hex');
    for (const { path, index } of this.#packs) {
      const rank = index.rankOf(id);
      if (rank !== undefined) return { pack: path, offset: index.offsetAt(rank) };
    }
    return undefined;
  }
}

function* inBatches(files: readonly StoredFile[]): Generator<readonly StoredFile[]> {
  for (let at = 0; at < files.length; at += confirmedTogether) yield files.slice(at, at + confirmedTogether);
}

/** The largest first: most objects are there. */
function readPacks(directory: string): Pack[] {
  const names = new Set(namesIn(directory));
  const packs = [];
  for (const name of names) {
    const path = join(directory, `${name.slice(0, -4)}.pack`);
    if (!name.endsWith('.idx') || !names.has(`${name.slice(0, -4)}.pack`)) continue;
    const index = PackIndex.parse(readRegularFile(join(directory, name)));
    if (index !== undefined) packs.push({ path, index });
  }
  return packs.sort((a, b) => b.index.size - a.index.size);
}

/** A thread that answers batches in the order in which it is given them. */
class Thread {
  #worker: Worker | undefined;
  readonly #answers: Answer[] = [];

  constructor(script: URL) {
    try {
      // The surroundings are not copied, and flags that were meant for the main thread stay there.
      this.#worker = new Worker(script, { env: SHARE_ENV, execArgv: [], resourceLimits });
    } catch (error) {
      if (systemCode(error) !== 'ERR_WORKER_INIT_FAILED') throw error;
      return;
    }
    this.#worker.on('message', (outcomes: Outcomes) => this.#answers.shift()?.(outcomes));
    this.#worker.on('error', () => undefined);
    this.#worker.once('exit', () => {
      this.#worker = undefined;
      for (const answer of this.#answers.splice(0)) answer(undefined);
    });
  }

  /** Batches that it has not answered; none that can is behind all others. */
  get waiting(): number {
    return this.#worker === undefined ? Infinity : this.#answers.length;
  }

  /** Answered with undefined where the thread ended: then any part of it may be done. */
  give(batch: Batch, answer: Answer): void {
    if (this.#worker === undefined) {
      answer(undefined);
      return;
    }
    this.#answers.push(answer);
    this.#worker.postMessage(batch);
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}
