import { type EntryPath, displayPath, parseEntryPath } from '../core/entry-path.js';
import type { MountName } from '../core/ids.js';
import type { PathArgument } from '../core/requests.js';
import { SnapError } from '../errors.js';

/** One path in one mount. */
export interface MountPath {
  readonly mount: MountName;
  readonly path: EntryPath;
}

/**
 * Which mount a path argument means. `mount:path` counts where a mount has that name; with one mount a path needs no
 * mount, and with several it must have one, or lies in the `usual` one.
 * @throws SnapError USAGE when it is not clear
 */
export function resolvePath(mounts: readonly MountName[], argument: PathArgument, usual?: MountName): MountPath {
  const { mount, path } = argument;
  if (mount !== null) return { mount: known(mounts, mount), path };
  const [only, ...others] = mounts;
  if (only !== undefined && others.length === 0) return { mount: only, path };
  const colon = path.indexOf(':');
  const prefix = mounts.find((name) => colon > 0 && name === path.slice(0, colon));
  if (prefix !== undefined)
    return { mount: prefix, path: parseEntryPath(path.slice(colon + 1).replace(/^\/+|\/+$/g, '')) };
  if (usual !== undefined) return { mount: usual, path };
  throw new SnapError(
    'USAGE',
    `${displayPath(path)} could lie in any of the mounts ${mounts.join(', ')}: write it as <mount>:${displayPath(path)}.`,
    {
      what: 'path',
    },
  );
}

/**
 * The mounts that are asked for, each with the paths that it is limited to, or null for all of it.
 * @throws SnapError PATH_NOT_FOUND when there is no such mount, USAGE when a path lies in another one
 */
export function chooseMounts(
  mounts: readonly MountName[],
  { mount, paths }: { readonly mount?: MountName | undefined; readonly paths?: readonly PathArgument[] | undefined },
): Map<MountName, readonly EntryPath[] | null> {
  const chosen = mount === undefined ? mounts : [known(mounts, mount)];
  if (paths === undefined || paths.length === 0) return new Map(chosen.map((name) => [name, null]));
  const limits = limitsOf(mounts, paths, mount);
  const elsewhere = [...limits.keys()].find((name) => !chosen.includes(name));
  if (elsewhere === undefined) return limits;
  throw new SnapError('USAGE', `A path lies in mount ${elsewhere}, but only mount ${chosen.join()} is asked for.`, {
    what: 'path',
  });
}

/**
 * The paths that something is limited to, by mount.
 * @param usual where a path lies that names no mount
 */
export function limitsOf(
  mounts: readonly MountName[],
  paths: readonly PathArgument[],
  usual?: MountName,
): Map<MountName, EntryPath[]> {
  const limits = new Map<MountName, EntryPath[]>();
  for (const argument of paths) {
    const { mount, path } = resolvePath(mounts, argument, usual);
    const known = limits.get(mount);
    if (known === undefined) limits.set(mount, [path]);
    else known.push(path);
  }
  return limits;
}

function known(mounts: readonly MountName[], name: MountName): MountName {
  if (mounts.includes(name)) return name;
  throw new SnapError('PATH_NOT_FOUND', `There is no mount ${name}; the mounts are ${mounts.join(', ')}.`, {
    path: name,
    where: 'mounts',
  });
}
