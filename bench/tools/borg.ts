import { join } from 'node:path';
import type { Command } from '../command.js';
import { measure, run } from '../command.js';
import type { Surroundings, Tool } from './tool.js';

/** Borg without encryption, compressed with lz4. It is not asked to restore. */
export function borg({ env }: Surroundings): Tool {
  return {
    name: 'borg',
    open: async (place, folder) => {
      const repository = join(place, 'repo');
      const command = (words: readonly string[]): Command => ({
        program: 'borg',
        arguments: words,
        cwd: folder,
        env: { ...env, BORG_BASE_DIR: `${place}.base`, BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: 'yes' },
      });
      await run(command(['init', '--make-parent-dirs', '--encryption', 'none', repository]));
      let count = 0;
      return {
        place,
        save: () => measure(command(['create', '--compression', 'lz4', `${repository}::${++count}`, '.'])),
      };
    },
  };
}
