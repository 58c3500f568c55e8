import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scene } from './scene.js';

/** An environment in which git does something else for commands whose words match a shell pattern. */
export function failingGit(scene: Scene, pattern: string, act: string): { readonly PATH: string } {
  const folder = join(scene.outside, 'bin');
  const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh\ncase "$*" in ${pattern}) ${act} ;; esac\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  return { PATH: `${folder}:${process.env['PATH'] ?? '/usr/bin:/bin'}` };
}
