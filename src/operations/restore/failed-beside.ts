import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectReader } from '../../core/ports.js';

type Reader = Pick<ObjectReader, 'stream' | 'read' | 'expect'>;

interface Beside {
  readonly reader: Reader;
  /** Writes to the journal. */
  readonly onLend: (path: EntryPath, mode: number) => void;
}

/**
 * A failure of the store or the journal in the middle of a restore. It looks like any system error, and taken for one of
 * the mount's own it would make a path one that cannot be made, and the restore done without it.
 */
class FailedBeside extends Error {
  constructor(cause: unknown) {
    super('The store or the journal failed.', { cause });
  }
}

/** Acts with store and journal so that a failure of theirs ends it, and is what it fails with. */
export async function tellingApart<Request extends Beside, Result>(
  request: Request,
  act: (request: Request) => Promise<Result>,
): Promise<Result> {
  const onLend: Beside['onLend'] = (path, mode) => {
    try {
      request.onLend(path, mode);
    } catch (error) {
      throw new FailedBeside(error);
    }
  };
  try {
    return await act({ ...request, reader: toldApart(request.reader), onLend });
  } catch (error) {
    throw error instanceof FailedBeside ? error.cause : error;
  }
}

/** The reader with its own failures told apart from those of the files that are made of what it reads. */
function toldApart(reader: Reader): Reader {
  return {
    expect: (oids) => {
      reader.expect(oids);
    },
    read: async (name, type, limit) => {
      try {
        return await reader.read(name, type, limit);
      } catch (error) {
        throw new FailedBeside(error);
      }
    },
    stream: async (oid, onChunk) => {
      const ofFile = new Set<unknown>();
      const noting = async (chunk: Parameters<typeof onChunk>[0]): Promise<void> => {
        try {
          await onChunk(chunk);
        } catch (error) {
          ofFile.add(error);
          throw error;
        }
      };
      try {
        await reader.stream(oid, noting);
      } catch (error) {
        throw ofFile.has(error) ? error : new FailedBeside(error);
      }
    },
  };
}
