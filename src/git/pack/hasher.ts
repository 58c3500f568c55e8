import type { ObjectId } from '../../core/ids.js';
import type { ObjectWriter } from '../../core/ports.js';
import { encodeTree, hashObject } from './format.js';
import { hashLargeBlob } from './large-blob.js';

/** Names objects as a writer would and keeps none of them: for looking at a tree without storing it. */
export const hasher: Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'> = {
  writeBlob: (content) => hashObject('blob', content),
  writeLargeBlob: async (size, read) => (await hashLargeBlob(size, read()))?.toString('hex') as ObjectId | undefined,
  writeTree: (entries) => hashObject('tree', encodeTree(entries)),
  has: () => true,
};
