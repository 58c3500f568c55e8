import { createHash } from 'node:crypto';

import type { EntryPath } from '../../core/entry-path.js';
import { parseConfig } from './config-file.js';
import type { GuardedDirectory, Reading } from './guarded-directory.js';
import { valueOf } from './guarded-directory.js';
import { locate } from './location.js';

const fileLimit = 1024 * 1024;

/**
 * What git would run or obey in a repository: its hooks, and its configuration apart from what names no program. The
 * answer maps each file to a digest, to be compared with a later answer only. Read as data.
 */
export function readSelfRunning(folder: string, gitEntry: 'directory' | 'file'): Map<EntryPath, string> {
  const found = new Map<EntryPath, string>();
  const location = locate(folder, gitEntry);
  if (location.kind !== 'read') return found;
  const { gitDir, commonDir } = location.value;
  const note = (path: string, digest: string | undefined): void => {
    if (digest !== undefined) found.set(`.git/${path}` as EntryPath, digest);
  };
  try {
    for (const name of valueOf(commonDir.list('hooks'), []) ?? [])
      if (!name.endsWith('.sample')) note(`hooks/${name}`, digestOf(commonDir, `hooks/${name}`));
    note('info/attributes', digestOf(commonDir, 'info/attributes'));
    note('config', configDigest(commonDir.read('config', fileLimit)));
    note('config.worktree', configDigest(gitDir.read('config.worktree', fileLimit)));
    return found;
  } finally {
    location.value.close();
  }
}

/** With the mode: what becomes executable becomes a hook. Undefined when nothing is there. */
function digestOf(directory: GuardedDirectory, path: string): string | undefined {
  const reading = directory.withFile(path, (file) => ({
    kind: 'read',
    value: `${String(file.mode)} ${sha1(file.read(0, fileLimit))} ${String(file.size)}`,
  }));
  if (reading.kind === 'absent') return undefined;
  return reading.kind === 'read' ? reading.value : reading.why;
}

/** Tracking a branch and naming a remote's address is everyday work and runs nothing. */
const everyday = /^(?:branch\0[^]*|user|remote\0[^\0]*\0(?:url|pushurl|fetch|prune|tagopt))(?:\0|$)/;

function configDigest(reading: Reading<Buffer>): string | undefined {
  if (reading.kind === 'absent') return undefined;
  if (reading.kind === 'unreadable') return reading.why;
  const config = parseConfig(reading.value.toString('latin1'));
  if (config === undefined) return sha1(reading.value);
  const telling = [...config.entries()].filter(([key]) => !everyday.test(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha1(Buffer.from(JSON.stringify(telling), 'latin1'));
}

function sha1(content: Buffer): string {
  return createHash('sha1').update(content).digest('hex');
}
