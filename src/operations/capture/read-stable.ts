import { Buffer } from 'node:buffer';

import { beginsLikeRanges, rangesMagic } from '../../core/data-ranges.js';
import { type EntryStat, sameStat } from '../../core/entry.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory, ObjectWriter, OpenFile } from '../../core/ports.js';
import { storeByRanges } from './by-ranges.js';

/** Files up to this size are read in one piece. */
const wholeAtMost = 8 * 1024 * 1024;
const attempts = 3;

/** How a blob holds a file: its bytes as they are, or its size and data ranges. */
export type ContentForm = 'as_is' | 'by_ranges';

export interface ReadContent {
  readonly oid: ObjectId;
  readonly stat: EntryStat;
  readonly form: ContentForm;
  /** How much was read for it, holes apart. */
  readonly bytesRead: number;
}

/** Reads one file of a directory, as `readStable` does. */
export type ReadFile = (
  directory: Directory,
  name: string,
  writer: Writer,
) => Promise<ReadContent | 'unstable' | 'another'>;

type Writer = Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob'>;
type Read = Omit<ReadContent, 'stat'>;

/**
 * Reads a file so that what is stored was its content at one moment: its stat is the same before and after, or it is
 * read again. 'unstable' after the third time; 'another' when the name is not a regular file's any more.
 * @param form in which it is stored; default: by ranges if its holes are vast, or if it looks like a file that is
 */
export async function readStable(
  directory: Directory,
  name: string,
  writer: Writer,
  form?: ContentForm,
): Promise<ReadContent | 'unstable' | 'another'> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const file = directory.openFile(name);
    try {
      const before = file.stat();
      if (before.kind !== 'file') return 'another';
      const read = await readOnce(file, before, writer, form ?? (before.vast === true ? 'by_ranges' : undefined));
      if (read !== undefined && sameStat(before, file.stat())) return { ...read, stat: before };
    } finally {
      file.close();
    }
  }
  return 'unstable';
}

async function readOnce(
  file: OpenFile,
  before: EntryStat,
  writer: Writer,
  form: ContentForm | undefined,
): Promise<Read | undefined> {
  const { size } = before;
  if (form === 'by_ranges') return readByRanges(file, size, writer);
  if (size <= wholeAtMost) {
    const content = readWhole(file, size);
    if (content === undefined) return undefined;
    if (form === undefined && beginsLikeRanges(content)) return readByRanges(file, size, writer);
    return { oid: writer.writeBlob(content), form: 'as_is', bytesRead: size };
  }
  if (form === undefined && beginsLikeRanges(beginningOf(file))) return readByRanges(file, size, writer);
  const oid = await writer.writeLargeBlob(size, () => (sameStat(file.stat(), before) ? new FromStart(file) : nothing));
  return oid === undefined ? undefined : { oid, form: 'as_is', bytesRead: size };
}

async function readByRanges(file: OpenFile, size: number, writer: Writer): Promise<Read | undefined> {
  const stored = await storeByRanges(file, size, writer);
  return stored === undefined ? undefined : { ...stored, form: 'by_ranges' };
}

const scratch = Buffer.allocUnsafeSlow(wholeAtMost + 1);

/** Valid until the next call. */
function readWhole(file: OpenFile, size: number): Buffer | undefined {
  let filled = 0;
  // One byte more than it should hold: growth shows.
  while (filled <= size) {
    const read = file.read(scratch.subarray(filled, size + 1));
    if (read === 0) break;
    filled += read;
  }
  return filled === size ? scratch.subarray(0, size) : undefined;
}

function beginningOf(file: OpenFile): Buffer {
  const beginning = Buffer.alloc(rangesMagic.length);
  return beginning.subarray(0, file.readAt(beginning, 0));
}

const nothing = { next: () => 0 };

class FromStart {
  readonly #file: OpenFile;
  #position = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  next(buffer: Uint8Array): number {
    const read = this.#file.readAt(buffer, this.#position);
    this.#position += read;
    return read;
  }
}
