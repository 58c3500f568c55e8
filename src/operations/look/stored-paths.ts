import { type EntryPath, baseName } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import { escapeName } from '../../core/name-escape.js';
import type { PathArgument } from '../../core/requests.js';
import { type MountPath, resolvePath } from '../path-arguments.js';
import type { KnownSnapshot } from '../snapshots.js';

export function mountNames({ record }: KnownSnapshot): MountName[] {
  return record.mounts.map(({ name }) => name);
}

/** @throws SnapError USAGE when it is not clear where a path lies */
export function limitsIn(mounts: readonly MountName[], paths: readonly PathArgument[]): MountPath[] {
  return paths.map((argument) => resolvePath(mounts, argument));
}

/** Paths as `<mount>/<path>` with names as they are stored, in every form that the path may have. */
export function storedPaths(paths: readonly MountPath[]): string[] {
  return paths.flatMap(({ mount, path }) =>
    path === '' ? [mount] : storedForms(path).map((form) => `${mount}/${form}`),
  );
}

/** A name may be stored in one way as a file and in another as a link or directory: what it is, git will find. */
function storedForms(path: EntryPath): string[] {
  const folders = path.split('/').map((name) => escapeName(name, { kind: 'directory', size: 0 }));
  const above = folders.slice(0, -1).map((name) => `${name}/`);
  const kinds = ['file', 'symlink', 'directory'] as const;
  const forms = kinds.map((kind) => above.join('') + escapeName(baseName(path), { kind, size: 0 }));
  return [...new Set(forms)];
}
