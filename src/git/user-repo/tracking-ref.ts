import type { RepositoryConfig } from './config-file.js';

/**
 * The ref that stands for a branch's upstream; null where the remote's refspec maps none: then git knows none either. It
 * is below `refs/remotes/` only where a remote has it: the remote `.` is the repository itself.
 */
export function trackingRef(branch: string, config: RepositoryConfig): string | null {
  const remote = config.get('branch', branch, 'remote');
  const merge = config.get('branch', branch, 'merge');
  if (remote === undefined || merge?.startsWith('refs/') !== true) return null;
  if (remote === '.') return merge;
  const [from = '', to = ''] = (config.get('remote', remote, 'fetch') ?? '').replace(/^\+/, '').split(':');
  return to === '' ? null : mappedBy(from, to, merge);
}

function mappedBy(from: string, to: string, merge: string): string | null {
  if (!from.includes('*')) return from === merge ? to : null;
  const [before = '', after = ''] = from.split('*');
  const isMapped = merge.startsWith(before) && merge.endsWith(after) && merge.length >= before.length + after.length;
  return isMapped ? to.replace('*', () => merge.slice(before.length, merge.length - after.length)) : null;
}
