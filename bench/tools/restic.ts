import { join } from 'node:path';
import type { Command } from '../command.js';
import { measure, run } from '../command.js';
import type { Surroundings, Tool } from './tool.js';

export function restic({ env }: Surroundings): Tool {
  return {
    name: 'restic',
    open: async (place, folder) => {
      const command = (words: readonly string[]): Command => ({
        program: 'restic',
        arguments: ['--repo', join(place, 'repo'), '--cache-dir', `${place}.cache`, '--quiet', ...words],
        cwd: folder,
        env: { ...env, RESTIC_PASSWORD: 'bench' },
      });
      await run(command(['init']));
      return {
        place,
        save: () => measure(command(['backup', '.'])),
        restoreInto: (target) => measure(command(['restore', 'latest', '--target', target])),
      };
    },
  };
}
