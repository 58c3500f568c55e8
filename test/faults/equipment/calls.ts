import type { Place } from './trace.js';

/** System calls that change something on disk or start a program. */
export const changingCalls: readonly string[] = [
  ...['openat', 'creat', 'rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
  ...['link', 'linkat', 'symlink', 'symlinkat', 'write', 'writev', 'pwrite64', 'pwritev', 'fsync', 'fdatasync'],
  ...['syncfs', 'chmod', 'fchmod', 'fchmodat', 'chown', 'fchown', 'lchown', 'fchownat', 'ftruncate', 'truncate'],
  ...['utimensat', 'fallocate', 'clone', 'clone3', 'vfork'],
];

/** Those that only look. */
export const readingCalls: readonly string[] = [
  ...['read', 'pread64', 'getdents64', 'newfstatat', 'statx', 'fstat', 'lstat', 'stat', 'readlink', 'readlinkat'],
  ...['mmap', 'fstatfs', 'statfs', 'access', 'faccessat'],
];

export function changesSomething({ call, line }: Place): boolean {
  if (readingCalls.includes(call)) return false;
  return call !== 'openat' || /O_(CREAT|TRUNC|WRONLY|RDWR)/.test(line);
}

export function isSync({ call }: Place): boolean {
  return call === 'fsync' || call === 'fdatasync' || call === 'syncfs';
}

const anywhere = ['EIO'];
const noRoom = ['ENOSPC', 'EDQUOT'];
const path = ['EACCES', 'ENOMEM'];
const inDirectory = [...anywhere, ...noRoom, ...path, 'EROFS'];
const onInode = [...anywhere, ...path, 'EROFS'];

const errorsOfCalls: Readonly<Record<string, readonly string[]>> = {
  openat: [...anywhere, ...path, 'EMFILE'],
  creating: [...inDirectory, 'EMFILE'],
  rename: inDirectory,
  link: inDirectory,
  symlink: inDirectory,
  mkdir: inDirectory,
  unlink: onInode,
  rmdir: onInode,
  chmod: onInode,
  fchmod: [...anywhere, 'EROFS'],
  chown: [...onInode, 'EDQUOT'],
  lchown: [...onInode, 'EDQUOT'],
  fchown: [...anywhere, 'EROFS', 'EDQUOT'],
  utimensat: onInode,
  write: [...anywhere, ...noRoom, 'ENOMEM'],
  pwrite64: [...anywhere, ...noRoom, 'ENOMEM'],
  ftruncate: [...anywhere, 'ENOSPC'],
  fsync: [...anywhere, ...noRoom],
  fdatasync: [...anywhere, ...noRoom],
  syncfs: [...anywhere, ...noRoom],
  read: [...anywhere, 'ENOMEM'],
  pread64: [...anywhere, 'ENOMEM'],
  getdents64: [...anywhere, 'ENOMEM'],
  newfstatat: [...anywhere, ...path],
  statx: [...anywhere, ...path],
  lstat: [...anywhere, ...path],
  stat: [...anywhere, ...path],
  fstat: anywhere,
  readlink: [...anywhere, ...path],
  access: [...anywhere, ...path],
  clone: ['ENOMEM'],
  vfork: ['ENOMEM'],
};

/** The errors of the list that the kernel can give for such a call. */
export function errorsOf(place: Place): readonly string[] {
  if (place.call === 'openat' && changesSomething(place)) return errorsOfCalls['creating']!;
  return errorsOfCalls[place.call] ?? errorsOfCalls[place.call.replace(/(at2?|3)$/, '')] ?? [];
}
