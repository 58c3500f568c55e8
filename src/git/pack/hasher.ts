import type { ObjectId } from '../../core/ids.js';
import type { ObjectWriter } from '../../core/ports.js';
import { encodeTree, hashObject } from './format.js';
import { hashLargeBlob } from './large-blob.js';

/** Names objects as a writer would and keeps none of them: for looking at a tree without storing it. */
export const hasher: Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'> = {
  writeBlob: (content) => hashObject('blob', content).toString('hex') as ObjectId,
  writeLargeBlob: async (size, read) => (await hashLargeBlob(size, read()))?.toString('hex') as ObjectId | undefined,
  writeTree: (entries) => hashObject('tree', encodeTree(entries)).toString('hex') as ObjectId,
  has: () => true,
};
