import { type EntryStat, sameStat } from '../../core/entry.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory, ObjectWriter, OpenFile } from '../../core/ports.js';

/** Files up to this size are read in one piece. */
const wholeAtMost = 8 * 1024 * 1024;
const attempts = 3;

/**
 * Reads a file so that what is stored was its content at one moment: its stat is the same before and after, or it is
 * read again. 'unstable' after the third time; 'another' when the name is not a regular file's any more.
 */
export async function readStable(
  directory: Directory,
  name: string,
  writer: Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob'>,
): Promise<{ oid: ObjectId; stat: EntryStat } | 'unstable' | 'another'> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const file = directory.openFile(name);
    try {
      const before = file.stat();
      if (before.kind !== 'file') return 'another';
      const oid =
        before.size <= wholeAtMost
          ? readWhole(file, before.size, writer)
          : await readLarge(directory, name, before, writer);
      if (oid !== undefined && sameStat(before, file.stat())) return { oid, stat: before };
    } finally {
      file.close();
    }
  }
  return 'unstable';
}

const scratch = Buffer.allocUnsafeSlow(wholeAtMost + 1);

function readWhole(file: OpenFile, size: number, writer: Pick<ObjectWriter, 'writeBlob'>): ObjectId | undefined {
  let filled = 0;
  // One byte more than it should hold: growth shows.
  while (filled <= size) {
    const read = file.read(scratch.subarray(filled, size + 1));
    if (read === 0) break;
    filled += read;
  }
  return filled === size ? writer.writeBlob(scratch.subarray(0, size)) : undefined;
}

async function readLarge(
  directory: Directory,
  name: string,
  before: EntryStat,
  writer: Pick<ObjectWriter, 'writeLargeBlob'>,
): Promise<ObjectId | undefined> {
  const opened: OpenFile[] = [];
  try {
    return await writer.writeLargeBlob(before.size, () => {
      const file = directory.openFile(name);
      opened.push(file);
      if (!sameStat(file.stat(), before)) return { next: () => 0 };
      return { next: (buffer) => file.read(buffer) };
    });
  } finally {
    for (const file of opened) file.close();
  }
}
