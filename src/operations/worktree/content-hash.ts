import { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';
import type { Directory } from '../../core/ports.js';
import type { Context } from '../context.js';

const sizeLimit = 256 * 1024 * 1024;

/** The id of a file or link as it is now, its bytes raw; undefined for anything else, and for what is very large. */
export function contentHash({ hasher }: Context, directory: Directory, name: string): ObjectId | undefined {
  const stat = directory.stat(name);
  if (stat?.kind === 'symlink') return hasher.writeBlob(Buffer.from(directory.readLink(name), 'latin1'));
  if (stat?.kind !== 'file' || stat.size > sizeLimit) return undefined;
  const file = directory.openFile(name);
  try {
    const content = Buffer.alloc(stat.size);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < content.length; filled += count)
      count = file.read(content.subarray(filled));
    return filled === content.length ? hasher.writeBlob(content) : undefined;
  } finally {
    file.close();
  }
}
