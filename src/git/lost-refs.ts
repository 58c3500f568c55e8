import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type ObjectId, zeroObjectId } from '../core/ids.js';
import type { FoundCommit } from '../core/lost-refs.js';
import { makeDirectoryDurably, syncDirectory, writeDurably } from '../fs/durable.js';
import { ifSound } from './if-sound.js';
import { BatchReader } from './objects.js';
import type { GitRunner } from './run-git.js';

/*
 * What a ref was that git can no longer read, and how it becomes one again.
 */

/**
 * Puts a value in the place of something that is no ref to git, which would not touch it; null takes it away. Durable
 * when it returns. The caller holds the store's exclusive lock.
 */
export function putRefFile(storeDirectory: string, name: string, value: ObjectId | null): void {
  const path = join(storeDirectory, name);
  if (value === null) {
    rmSync(path, { force: true });
    syncDirectory(dirname(path));
  } else {
    makeDirectoryDurably(dirname(path));
    writeDurably(path, `${value}\n`);
  }
}

/**
 * All commits in the store that can be read, whatever leads to them.
 * @throws what keeps it from reading them, which says nothing of whether they are there
 */
export async function findCommits(git: GitRunner): Promise<FoundCommit[]> {
  const command = { args: ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)'] };
  const { exitCode, stdout, stderr } = await git.run(command);
  if (exitCode !== 0) throw git.failure(command, exitCode, stderr);
  const ids = stdout.toString('latin1').match(/(?<=^commit )[0-9a-f]{40}$/gm) ?? [];
  const reader = new BatchReader(git);
  try {
    const found = await Promise.all(ids.map((oid) => readCommit(reader, oid as ObjectId)));
    return found.filter((commit) => commit !== undefined);
  } finally {
    await reader.close();
  }
}

async function readCommit(reader: BatchReader, oid: ObjectId): Promise<FoundCommit | undefined> {
  const found = await ifSound(reader.find(oid, 'commit'));
  const text = found?.content.toString('utf8') ?? '';
  const end = text.indexOf('\n\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  return {
    commit: oid,
    tree: (/^tree ([0-9a-f]{40})$/m.exec(head)?.[1] ?? zeroObjectId) as ObjectId,
    hasParent: /^parent /m.test(head),
    message: text.slice(end + 2),
  };
}
