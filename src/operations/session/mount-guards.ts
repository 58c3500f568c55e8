import { type HostPath, displayPath } from '../../core/entry-path.js';
import { isSecretMount } from '../../core/secrets.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { liesIn } from './folders.js';

/** @throws SnapError MOUNT_UNSAFE for folders that nobody means to protect as a whole */
export function refuseUnsafeMount(context: Context, path: HostPath): void {
  const why = whyUnsafe(context, path);
  if (why === undefined) return;
  throw new SnapError('MOUNT_UNSAFE', `${displayPath(path)} is refused as a mount: it is ${why}.`, {
    path: displayPath(path),
    why,
  });
}

/** Why nobody means to protect a folder as a whole; undefined where somebody may. */
export function whyUnsafe(context: Context, path: HostPath): string | undefined {
  const { dataDirectory } = context.host;
  if (path === '/') return 'the root of the file system';
  if (context.host.isHome(path)) return 'a home directory';
  if (liesIn(context, dataDirectory, path)) return 'a parent of the data directory';
  if (liesIn(context, path, dataDirectory) && !isWorktree(context, path)) return 'inside the data directory';
  return isSecretMount(path) ? 'a directory of secrets' : undefined;
}

/** `worktrees/<name>/<folder>` is a working folder like any other; nothing of ours is in it. */
function isWorktree({ host }: Context, path: HostPath): boolean {
  const prefix = `${host.worktreesDirectory}/`;
  const real = host.realPath(path) ?? path;
  return real.startsWith(prefix) && real.slice(prefix.length).split('/').length >= 2;
}
