import type { ObjectId } from '../../core/ids.js';
import { type GuardedDirectory, type Reading, read, unreadable } from './guarded-directory.js';
import { resolveRef } from './refs.js';

/*
 * All branches, tags and remote-tracking refs of a repository. Something that cannot be read is never taken for absent.
 */

const roots = ['refs/heads', 'refs/remotes', 'refs/tags'] as const;
const packedLimit = 256 * 1024 * 1024;
const depthLimit = 64;
const mostRefs = 500_000;

/** Whole names (bytes) and what they say, in byte order. Symbolic refs below refs/remotes are none. */
export function listRefs(commonDir: GuardedDirectory): Reading<ReadonlyMap<string, ObjectId>> {
  const packed = commonDir.read('packed-refs', packedLimit);
  if (packed.kind === 'unreadable') return packed;
  const found = new Map<string, ObjectId>();
  if (packed.kind === 'read')
    for (const [, oid, name = ''] of packed.value.toString('latin1').matchAll(/^([0-9a-f]{40}) (refs\/[^\n]+)$/gm))
      if (roots.some((root) => name.startsWith(`${root}/`))) found.set(name, oid as ObjectId);
  for (const root of roots) {
    const problem = addLoose(commonDir, root, found, depthLimit);
    if (problem !== undefined) return unreadable(problem);
  }
  return read(new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** @returns why the refs cannot be known */
function addLoose(
  commonDir: GuardedDirectory,
  path: string,
  found: Map<string, ObjectId>,
  depth: number,
): string | undefined {
  if (depth === 0 || found.size > mostRefs) return 'there are too many refs, or they lie too deep';
  const names = commonDir.list(path);
  if (names.kind === 'unreadable') return names.why;
  if (names.kind === 'absent') return addRef(commonDir, path, found);
  for (const name of names.value) {
    const problem = name.endsWith('.lock') ? undefined : addLoose(commonDir, `${path}/${name}`, found, depth - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function addRef(commonDir: GuardedDirectory, path: string, found: Map<string, ObjectId>): string | undefined {
  if ((roots as readonly string[]).includes(path)) return undefined;
  const content = commonDir.read(path, 64 * 1024);
  if (content.kind === 'unreadable') return content.why;
  if (content.kind === 'absent') return undefined;
  if (path.startsWith('refs/remotes/') && content.value.toString('latin1', 0, 4) === 'ref:') {
    found.delete(path);
    return undefined;
  }
  const oid = resolveRef(commonDir, commonDir, path);
  if (oid.kind === 'unreadable') return oid.why;
  if (oid.kind === 'read') found.set(path, oid.value);
  return undefined;
}
