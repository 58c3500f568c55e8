import { closeSync, constants, openSync } from 'node:fs';
import { toBytes, utf8 } from './bytes.js';

// Far enough below the 4096 bytes of PATH_MAX to leave room for the root and a name of 255 bytes.
const hopBytes = 2000;

// Linux: a descriptor that only marks a place. It needs no permission on the directory itself.
const onlyAPlace = 0o10000000;

/**
 * Calls `act` with a path that the kernel accepts for `path` below `root`, however long `path` is: directories on the
 * way are held open, and what is handed over begins at /proc/self/fd. It is valid only until `act` returns.
 */
export function reach<T>(root: string, path: string, act: (hostPath: Buffer) => T): T {
  let base = utf8(root);
  let rest = path;
  let held: number | undefined;
  try {
    while (rest.length > hopBytes) {
      const cut = rest.lastIndexOf('/', hopBytes);
      if (cut <= 0) break;
      const next = openPlace(toBytes(`${base}/${rest.slice(0, cut)}`));
      if (held !== undefined) closeSync(held);
      held = next;
      base = `/proc/self/fd/${next}`;
      rest = rest.slice(cut + 1);
    }
    return act(toBytes(rest === '' ? base : `${base}/${rest}`));
  } finally {
    if (held !== undefined) closeSync(held);
  }
}

/** Like `reach`, for a call that takes two paths. */
export function reachBoth<T>(root: string, one: string, other: string, act: (one: Buffer, other: Buffer) => T): T {
  return reach(root, one, (onePath) => reach(root, other, (otherPath) => act(onePath, otherPath)));
}

function openPlace(hostPath: Buffer): number {
  return openSync(hostPath, onlyAPlace | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}
