import { type EntryPath, type HostPath, baseName, contains, hostPathBelow, parentOf } from '../../core/entry-path.js';
import type { Context, Host } from '../context.js';

/**
 * True when `inner` is `outer` or lies in it, by whatever names: links in both paths are followed, and a folder that is
 * mounted in a second place is the same one. Neither need exist.
 */
export function liesIn(context: Pick<Context, 'host'>, inner: HostPath, outer: HostPath): boolean {
  return placeIn(context, inner, outer) !== undefined;
}

/** The same, with where it lies there: its path from `outer` on. */
export function placeIn({ host }: Pick<Context, 'host'>, inner: HostPath, outer: HostPath): EntryPath | undefined {
  const [realInner, realOuter] = [realOf(host, inner), realOf(host, outer)];
  if (contains(realOuter, realInner)) return pathFrom(realOuter, realInner);
  const sought = host.identity(realOuter);
  if (sought === undefined) return undefined;
  const same = andAbove(realInner).find((folder) => isSame(host.identity(folder), sought));
  return same === undefined ? undefined : pathFrom(same, realInner);
}

function pathFrom(folder: HostPath, path: HostPath): EntryPath {
  return path.slice(folder.length).replace(/^\/+|\/+$/g, '') as EntryPath;
}

/** True when one of the folders lies in the other. */
export function overlap(context: Pick<Context, 'host'>, a: HostPath, b: HostPath): boolean {
  return liesIn(context, a, b) || liesIn(context, b, a);
}

/** Of what does not exist yet, the place where it would be. */
function realOf(host: Host, path: HostPath): HostPath {
  const real = host.realPath(path);
  if (real !== undefined || path === '/' || path === '') return real ?? path;
  return hostPathBelow(realOf(host, parentOf(path)), baseName(withoutSlashes(path)));
}

function withoutSlashes(path: HostPath): EntryPath {
  return path.replace(/\/+$/, '') as EntryPath;
}

function andAbove(path: HostPath): HostPath[] {
  const folders = [path];
  for (let at = path; at !== '/' && at !== ''; folders.push(at)) at = parentOf(at);
  return folders;
}

type Identity = ReturnType<Host['identity']>;

function isSame(a: Identity, b: Identity): boolean {
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}
