import { Buffer } from 'node:buffer';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../core/ids.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, writeCache, writeFully } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import type { GitSettings } from './git-settings.js';
import { namesIn } from './names-in.js';

/** Where objects lie: packs by name, size and time; loose ones by the times of their directories. */
export type ObjectStoreState = ReadonlyMap<string, string>;

interface Findings {
  /** The file that they were read from, as it was. */
  readonly file: BigIntStats;
  readonly state: Map<string, string>;
  readonly commits: Set<string>;
}

// A pipe in its place would be waited for.
const appendFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The commits that were found intact, and where objects lay then: what was found holds for as long as all of that is
 * there, unchanged. A file of lines, so that a save adds a few to it, however many there are. It is a cache: whatever
 * is odd about it means that nothing is known.
 */
export class IntactCommits {
  readonly #cache: string;
  readonly #objects: string;
  #findings: Findings | undefined;

  constructor({ dataDir, storeDirectory }: Pick<GitSettings, 'dataDir' | 'storeDirectory'>) {
    this.#cache = join(dataDir, 'cache');
    this.#objects = join(storeDirectory, 'objects');
  }

  get #path(): string {
    return join(this.#cache, 'verified');
  }

  /** How things are now. */
  state(): ObjectStoreState {
    return objectStoreState(this.#objects);
  }

  /** Those that are known to be intact while this is where objects lie. */
  known(state: ObjectStoreState): ReadonlySet<string> {
    return this.#holding(state)?.commits ?? new Set();
  }

  /** Notes what was found; `state` is how things were before the look. What cannot be noted is looked at again. */
  add(state: ObjectStoreState, commits: readonly ObjectId[]): void {
    try {
      const held = this.#holding(state);
      if (held === undefined || !this.#append(held, state, commits)) this.#replace(state, commits);
    } catch (error) {
      // A cache: without it the next check takes longer.
      if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
    }
  }

  #holding(state: ObjectStoreState): Findings | undefined {
    const findings = this.#read();
    return findings !== undefined && holds(findings.state, state) ? findings : undefined;
  }

  #read(): Findings | undefined {
    try {
      const there = lstatSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (there === undefined) return undefined;
      if (this.#findings === undefined || !isSame(this.#findings.file, there)) {
        // A file that is replaced in between is read again the next time.
        this.#findings = parse(readRegularFile(this.#path), there);
      }
      return this.#findings;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /**
   * False when the file is another one than what was read from it: then nothing may be added to it, since what it says
   * may hold of other places.
   */
  #append(held: Findings, state: ObjectStoreState, commits: readonly ObjectId[]): boolean {
    const text = linesOf(
      [...state].filter(([place]) => !held.state.has(place)),
      commits.filter((commit) => !held.commits.has(commit)),
    );
    if (text === '') return true;
    const fd = openSync(this.#path, appendFlags);
    try {
      if (!isSame(held.file, fstatSync(fd, { bigint: true }))) return false;
      writeFully(fd, Buffer.from(text, 'latin1'));
      for (const [place, known] of state) held.state.set(place, known);
      for (const commit of commits) held.commits.add(commit);
      this.#findings = { ...held, file: fstatSync(fd, { bigint: true }) };
      return true;
    } finally {
      closeSync(fd);
    }
  }

  /** What two processes write at once loses one's findings; that costs a check and is never wrong. */
  #replace(state: ObjectStoreState, commits: readonly ObjectId[]): void {
    const earlier = this.#holding(state)?.commits ?? [];
    makeDirectoryDurably(this.#cache);
    writeCache(this.#path, heading + linesOf(state, new Set([...earlier, ...commits])));
  }
}

const heading = 'jackin-verified-1\n';
const idLength = 40;
const [newline, stateMark] = [0x0a, 0x3d];

function linesOf(state: Iterable<readonly [string, string]>, commits: Iterable<string>): string {
  const places = Array.from(state, ([place, known]) => `=${place} ${known}\n`);
  return places.join('') + Array.from(commits, (commit) => `${commit}\n`).join('');
}

/** Undefined for anything but whole lines of ours. */
function parse(bytes: Buffer, file: BigIntStats): Findings | undefined {
  const text = bytes.toString('latin1');
  if (!text.startsWith(heading) || BigInt(bytes.length) !== file.size) return undefined;
  const state = new Map<string, string>();
  const commits = new Set<string>();
  for (let at = heading.length; at < bytes.length;) {
    const isState = bytes[at] === stateMark;
    const end = isState ? bytes.indexOf(newline, at) : at + idLength;
    if (end < 0 || bytes[end] !== newline) return undefined;
    if (!isState) commits.add(text.slice(at, end));
    else {
      const blank = text.indexOf(' ', at);
      state.set(text.slice(at + 1, blank), text.slice(blank + 1, end));
    }
    at = end + 1;
  }
  return { file, state, commits };
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs && one.ctimeNs === other.ctimeNs
  );
}

function holds(then: ObjectStoreState, now: ObjectStoreState): boolean {
  for (const [place, known] of then) if (now.get(place) !== known) return false;
  return true;
}

function objectStoreState(objects: string): ObjectStoreState {
  const state = new Map<string, string>();
  for (const name of namesIn(join(objects, 'pack'))) {
    if (name.endsWith('.pack') || name.endsWith('.idx')) noteState(state, objects, `pack/${name}`);
  }
  for (const name of namesIn(objects)) if (/^[0-9a-f]{2}$/.test(name)) noteState(state, objects, name);
  return state;
}

function noteState(state: Map<string, string>, objects: string, place: string): void {
  const stat = lstatSync(join(objects, place), { bigint: true, throwIfNoEntry: false });
  if (stat !== undefined) state.set(place, `${String(stat.size)} ${String(stat.mtimeNs)} ${String(stat.ino)}`);
}
