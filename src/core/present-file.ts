import type { ObjectId } from './ids.js';

/** What lies at a path now. `oid` is the id of the raw content (a link's text), where it is known. */
export interface PresentFile {
  readonly kind: 'file' | 'symlink' | 'directory' | 'special';
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly mode: number;
  readonly oid?: ObjectId;
}
