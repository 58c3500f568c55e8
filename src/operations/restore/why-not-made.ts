import { systemCode } from '../../errors.js';

/** System errors that concern one path only, and how they are reported. Anything else ends the restore. */
const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ['EEXIST', 'changed_meanwhile'],
  ['ENOENT', 'changed_meanwhile'],
  ['ENOTDIR', 'changed_meanwhile'],
  ['ELOOP', 'changed_meanwhile'],
  ['EISDIR', 'changed_meanwhile'],
  ['EXDEV', 'changed_meanwhile'],
  ['ENOTEMPTY', 'not_empty'],
  ['EACCES', 'not_permitted'],
  ['EPERM', 'not_permitted'],
  ['EROFS', 'not_permitted'],
  ['EBUSY', 'busy'],
  ['ETXTBSY', 'busy'],
  ['ENAMETOOLONG', 'not_possible_here'],
  ['EFBIG', 'not_possible_here'],
  ['EINVAL', 'not_possible_here'],
]);

/** Undefined for an error that ends the restore. */
export function whyNotMade(error: unknown): string | undefined {
  return reasons.get(systemCode(error));
}
