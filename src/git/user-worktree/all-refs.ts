import type { ObjectId } from '../../core/ids.js';
import type { GuardedDirectory } from '../user-repo/guarded-directory.js';

const roots = ['refs/heads', 'refs/remotes', 'refs/tags'];
const packedLimit = 256 * 1024 * 1024;
const depthLimit = 32;

/**
 * What branches, tags and remote-tracking refs name: what keeps commits in a repository. What cannot be read is not
 * among them.
 */
export function readAllRefs(commonDir: GuardedDirectory): Map<string, ObjectId> {
  const found = new Map<string, ObjectId>();
  const packed = commonDir.read('packed-refs', packedLimit);
  if (packed.kind === 'read')
    for (const [, oid, name = ''] of packed.value.toString('latin1').matchAll(/^([0-9a-f]{40}) (refs\/[^\n]+)$/gm))
      if (roots.some((root) => name.startsWith(`${root}/`))) found.set(name, oid as ObjectId);
  for (const root of roots) addLoose(commonDir, root, found, depthLimit);
  return found;
}

function addLoose(commonDir: GuardedDirectory, path: string, found: Map<string, ObjectId>, depth: number): void {
  const names = commonDir.list(path);
  if (names.kind !== 'read') {
    const file = commonDir.read(path, 1024);
    const oid = file.kind === 'read' ? /^([0-9a-f]{40})\s/.exec(file.value.toString('latin1'))?.[1] : undefined;
    if (oid !== undefined && !path.endsWith('.lock')) found.set(path, oid as ObjectId);
    return;
  }
  if (depth > 0) for (const name of names.value) addLoose(commonDir, `${path}/${name}`, found, depth - 1);
}
