import type { LeftOutReason } from './entry.js';

/** What a path is that was left out for this reason: it goes on after `is`. */
export function describeLeftOut(reason: LeftOutReason): string {
  const words: Record<LeftOutReason, string> = {
    ignored: 'ignored',
    excluded: 'excluded',
    secret: 'a secret',
    too_large: 'too large',
    unreadable: 'not readable',
    special: 'a socket, pipe or device',
    unstable: 'changing all the time',
    git_dir: 'a repository',
    unsupported: 'not supported',
    foreign_fs: 'on another file system',
  };
  return words[reason];
}

/** Nobody wants it left out: it is for want of a permission, of a whole disk, or of a moment in which it stays the same. */
export function isReadFailure(reason: LeftOutReason): boolean {
  return reason === 'unreadable' || reason === 'unstable';
}
