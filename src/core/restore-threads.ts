import type { StoredFile } from './entry.js';
import type { EntryPath } from './entry-path.js';
import type { Directory } from './ports.js';

export type MadeFile = 'made' | 'owner_refused' | 'not_made';

/** Threads that take work off a large restore. Whatever they do not do is done without them. */
export interface RestoreThreads {
  /** Whether it is a file for `make`. */
  takes(file: StoredFile): boolean;
  /**
   * Makes a new file in a held directory, beside the caller: private until its mode is set, whole, with the blob's
   * content, which was held against its id; not durable. One that was not made has left nothing, or, if a thread died,
   * something under its name.
   */
  make(directory: Directory, name: string, file: StoredFile): Promise<MadeFile>;
  /** What was asked for last is not kept back any longer, to be done with what is asked for next. */
  flush(): void;
  /** Those of the files below the root that are as they should be, looked at as for `verify`. Of others it says nothing. */
  confirm(root: Directory, files: readonly StoredFile[]): Promise<ReadonlySet<EntryPath>>;
  /** Nothing may be under way. */
  end(): Promise<void>;
}
