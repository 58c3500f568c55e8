import type { ObjectId } from '../../core/ids.js';
import { type GuardedDirectory, type Reading, read, unreadable } from './guarded-directory.js';
import { resolveRef } from './refs.js';

/*
 * All branches, tags and remote-tracking refs of a repository. Names are whole, and bytes; symbolic refs below
 * refs/remotes are none.
 */

const roots = ['refs/heads', 'refs/remotes', 'refs/tags'] as const;
const packedLimit = 256 * 1024 * 1024;
const depthLimit = 64;
const mostRefs = 500_000;

export type Refs = ReadonlyMap<string, ObjectId>;

/** All of them, in byte order: where one cannot be read, none can. Nothing is taken for absent. */
export function listRefs(commonDir: GuardedDirectory): Reading<Refs> {
  const listing = new RefListing(commonDir);
  if (listing.problem !== null) return unreadable(listing.problem);
  return read(new Map([...listing.refs].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Those that can be read: what is certain to keep commits in a repository. */
export function readableRefs(commonDir: GuardedDirectory): Refs {
  return new RefListing(commonDir).refs;
}

class RefListing {
  readonly refs = new Map<string, ObjectId>();
  /** Why there may be others; the first reason. */
  problem: string | null = null;
  readonly #commonDir: GuardedDirectory;

  constructor(commonDir: GuardedDirectory) {
    this.#commonDir = commonDir;
    this.#addPacked();
    for (const root of roots) this.#addLoose(root, depthLimit);
  }

  #addPacked(): void {
    const packed = this.#commonDir.read('packed-refs', packedLimit);
    if (packed.kind === 'unreadable') this.problem = packed.why;
    if (packed.kind !== 'read') return;
    for (const [, oid, name = ''] of packed.value.toString('latin1').matchAll(/^([0-9a-f]{40}) (refs\/[^\n]+)$/gm))
      if (roots.some((root) => name.startsWith(`${root}/`))) this.refs.set(name, oid as ObjectId);
  }

  #addLoose(path: string, depth: number): void {
    if (depth === 0 || this.refs.size > mostRefs) {
      this.problem ??= 'there are too many refs, or they lie too deep';
      return;
    }
    const names = this.#commonDir.list(path);
    if (names.kind === 'unreadable') this.problem ??= names.why;
    else if (names.kind === 'absent') this.#addRef(path);
    else for (const name of names.value) if (!name.endsWith('.lock')) this.#addLoose(`${path}/${name}`, depth - 1);
  }

  #addRef(path: string): void {
    if ((roots as readonly string[]).includes(path)) return;
    const content = this.#commonDir.read(path, 64 * 1024);
    if (content.kind === 'unreadable') this.problem ??= content.why;
    if (content.kind !== 'read') return;
    if (path.startsWith('refs/remotes/') && content.value.toString('latin1', 0, 4) === 'ref:') {
      this.refs.delete(path);
      return;
    }
    const oid = resolveRef(this.#commonDir, this.#commonDir, path);
    if (oid.kind === 'unreadable') this.problem ??= oid.why;
    if (oid.kind === 'read') this.refs.set(path, oid.value);
  }
}
