import type { ObjectWriter } from '../../core/ports.js';

/** Names content as the store would, without storing it. */
export type ContentHasher = Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob'>;

/** Stands in for a writer where a tree is only looked at: every object counts as known. */
export type LookingWriter = ContentHasher & Pick<ObjectWriter, 'writeTree' | 'has'>;
