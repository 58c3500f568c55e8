import { SnapError, systemCode } from '../../errors.js';

/** True when one entry cannot be read, and the walk goes on without it. */
export function isDenied(error: unknown): boolean {
  if (error instanceof SnapError) return false;
  return [
    'EACCES',
    'EPERM',
    'EIO',
    'ESTALE',
    'ETXTBSY',
    'ENXIO',
    'EOVERFLOW',
    'ENODATA',
    'EUCLEAN',
    'EBADMSG',
  ].includes(systemCode(error) ?? '');
}
