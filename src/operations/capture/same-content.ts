import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import { readManifest } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';
import type { AttributeDefaults } from './attributes.js';
import type { WrittenContent } from './publish.js';

/** Whether a snapshot holds just what was written: files, attributes, and what is protected of repositories. */
export async function holdsTheSame(
  reader: ObjectReader,
  known: KnownSnapshot,
  content: WrittenContent,
): Promise<boolean> {
  const { commit } = known.ref;
  if ((await idOf(reader, `${commit}:mounts`, 'tree')) !== content.mounts) return false;
  const { mounts: projects, state } = await readManifest(reader, known);
  const mounts = state === undefined ? projects : [...projects, state];
  for (const [mount, oid] of content.attributes) {
    const before = mounts.find(({ name }) => name === mount)?.defaults;
    // Attributes are exceptions: the same list means the same only beside the same defaults.
    if (!sameDefaults(before, content.defaults.get(mount))) return false;
    if ((await idOf(reader, `${commit}:meta/mounts/${mount}/attributes`, 'blob')) !== oid) return false;
    const git = content.gitTrees.get(mount);
    if (git !== undefined && (await idOf(reader, `${commit}:meta/mounts/${mount}/git`, 'tree')) !== git) return false;
  }
  return true;
}

function sameDefaults(a: AttributeDefaults | undefined, b: AttributeDefaults | undefined): boolean {
  const keys = ['file', 'executable', 'directory', 'uid', 'gid'] as const;
  return a !== undefined && b !== undefined && keys.every((key) => a[key] === b[key]);
}

async function idOf(reader: ObjectReader, name: string, type: 'tree' | 'blob'): Promise<ObjectId | undefined> {
  return (await reader.find(name, type))?.oid;
}
