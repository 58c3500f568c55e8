import type { ObjectReader, ObjectWriter } from '../core/ports.js';

type Reader = Pick<ObjectReader, 'stream' | 'read' | 'expect'>;
type Writer = Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'>;

/**
 * A failure of what works on a mount: the store, the journal, who is told of the progress. It looks like any system
 * error. Taken for one of the mount's own it would make a file unreadable that is not, or absent, or a path one that
 * cannot be made, and the work be done without it.
 */
class OwnFailure extends Error {
  constructor(cause: unknown) {
    super('What works on the mount failed.', { cause });
  }
}

/** Acts so that an own failure ends it, and is what it fails with. */
export async function endedByOwnFailures<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof OwnFailure ? error.cause : error;
  }
}

/** An act with its failures told apart from those of the mount. */
export function asOwnFailure<Arguments extends unknown[], Result>(
  act: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  return (...given) => {
    try {
      return act(...given);
    } catch (error) {
      throw new OwnFailure(error);
    }
  };
}

/** The same of one that takes its time. */
export function asOwnFailureLater<Arguments extends unknown[], Result>(
  act: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  return async (...given) => {
    try {
      return await act(...given);
    } catch (error) {
      throw new OwnFailure(error);
    }
  };
}

/** The same of one that looks at the mount meanwhile: what fails in `ofMount` is of the mount, all else an own failure. */
export async function asOwnFailureBut<Result>(act: (ofMount: OfMount) => Promise<Result>): Promise<Result> {
  const failures = new Set<unknown>();
  const note = (error: unknown): never => {
    failures.add(error);
    throw error;
  };
  const ofMount: OfMount = (look) => {
    try {
      const found = look();
      return found instanceof Promise ? (found.catch(note) as typeof found) : found;
    } catch (error) {
      return note(error);
    }
  };
  try {
    return await act(ofMount);
  } catch (error) {
    throw failures.has(error) ? error : new OwnFailure(error);
  }
}

type OfMount = <Found>(look: () => Found) => Found;

/** A reader with its own failures told apart from those of the files that are made of what it reads. */
export function ownReader(reader: Reader): Reader {
  return {
    expect: asOwnFailure((oids) => {
      reader.expect(oids);
    }),
    read: asOwnFailureLater((name, type, limit) => reader.read(name, type, limit)),
    stream: (oid, onChunk) =>
      asOwnFailureBut((ofMount) => reader.stream(oid, (chunk) => ofMount(() => onChunk(chunk)))),
  };
}

/** The writer with its own failures told apart from those of the files that it is handed. */
export function ownWriter(writer: Writer): Writer {
  return {
    writeBlob: asOwnFailure((content) => writer.writeBlob(content)),
    writeTree: asOwnFailure((entries) => writer.writeTree(entries)),
    has: asOwnFailure((oid) => writer.has(oid)),
    writeLargeBlob: (size, read) =>
      asOwnFailureBut((ofMount) =>
        writer.writeLargeBlob(size, () => {
          const source = ofMount(read);
          return { next: (buffer) => ofMount(() => source.next(buffer)) };
        }),
      ),
  };
}
