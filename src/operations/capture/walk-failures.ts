import type { ObjectWriter } from '../../core/ports.js';
import { SnapError, systemCode } from '../../errors.js';
import { own, ownBut } from '../own-failures.js';

type Writer = Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'>;

/** The writer with its own failures told apart from those of the files that it is handed. */
export function ownWriter(writer: Writer): Writer {
  return {
    writeBlob: own((content) => writer.writeBlob(content)),
    writeTree: own((entries) => writer.writeTree(entries)),
    has: own((oid) => writer.has(oid)),
    writeLargeBlob: (size, read) =>
      ownBut((ofMount) =>
        writer.writeLargeBlob(size, () => {
          const source = ofMount(read);
          return { next: (buffer) => ofMount(() => source.next(buffer)) };
        }),
      ),
  };
}

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
