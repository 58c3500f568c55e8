import type { ObjectWriter } from '../../core/ports.js';
import { SnapError, systemCode } from '../../errors.js';

type Writer = Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'>;

/**
 * A failure of the store in the middle of a walk. It looks like any system error, and taken for one of the mount's own
 * it would make a file unreadable that is not, or absent.
 */
export class WriterFailure extends Error {
  constructor(cause: unknown) {
    super('The store failed.', { cause });
  }
}

/** The writer with its own failures told apart from those of the files that it is handed. */
export function toldApart(writer: Writer): Writer {
  return {
    writeBlob: (content) => own(() => writer.writeBlob(content)),
    writeTree: (entries) => own(() => writer.writeTree(entries)),
    has: (oid) => own(() => writer.has(oid)),
    writeLargeBlob: (size, read) => largeBlob(writer, size, read),
  };
}

async function largeBlob(
  writer: Writer,
  size: number,
  read: Parameters<Writer['writeLargeBlob']>[1],
): ReturnType<Writer['writeLargeBlob']> {
  const ofSource = new Set<unknown>();
  const noting = <Result>(look: () => Result): Result => {
    try {
      return look();
    } catch (error) {
      ofSource.add(error);
      throw error;
    }
  };
  try {
    return await writer.writeLargeBlob(size, () => {
      const source = noting(read);
      return { next: (buffer) => noting(() => source.next(buffer)) };
    });
  } catch (error) {
    throw ofSource.has(error) ? error : new WriterFailure(error);
  }
}

function own<Result>(write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    throw new WriterFailure(error);
  }
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
