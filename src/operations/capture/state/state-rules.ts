import type { EntryStat, LeftOutReason } from '../../../core/entry.js';
import type { EntryPath } from '../../../core/entry-path.js';
import { stateLeftOut } from '../../../core/jackin/state-paths.js';
import type { DirectoryRules } from '../level.js';

/** The rules of a walk over an agent's home: the list of what a snapshot of state may hold, and no ignore files. */
export class StateRules implements DirectoryRules {
  readonly key = 'state';
  readonly recordedKey = 'state';
  readonly #rootDev: bigint;

  constructor(rootDev: bigint) {
    this.#rootDev = rootDev;
  }

  leaveOut(path: EntryPath, name: string, stat: EntryStat): LeftOutReason | null {
    if (stat.kind === 'directory' && name === '.git') return 'git_dir';
    if (stat.kind === 'directory' && stat.dev !== this.#rootDev) return 'foreign_fs';
    return stateLeftOut(path, stat);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async enter(): Promise<DirectoryRules> {
    return this;
  }
}
