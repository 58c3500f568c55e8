import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { fromBytes } from '../../support/bytes.js';
import { removeWithin } from '../../support/remove-tree.js';

/** Makes a folder hold what another one does; the folder itself stays the directory that it is. */
export function copyContent(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(to, { encoding: 'buffer' })) removeWithin(to, fromBytes(name));
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', `${from}/.`, to]);
  if (status !== 0) throw new Error(`cp: ${stderr.toString()}`);
}
