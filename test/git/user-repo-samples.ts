import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { PresentFile } from '../../src/core/present-file.js';
import type { UserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { readUserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

/** A repository with a little history, in a folder of its own. */
export function history(options?: user.RepositoryOptions): string {
  const path = join(tempDir(), 'repository');
  user.createHistory(path, options);
  return path;
}

export async function readDirectory(path: string): Promise<UserRepo> {
  const repo = await readUserRepo(path, 'directory');
  if (repo === null) throw new Error('There is no repository.');
  return repo;
}

export function commitAt(path: string, name = 'HEAD'): string {
  return user.userGitText(path, ['rev-parse', name]);
}

export function mkfifo(path: string): void {
  execFileSync('mkfifo', [path]);
}

/** What lies in the working tree, with the ids that git gives to raw content. */
export function presentIn(folder: string): (path: EntryPath) => PresentFile | undefined {
  return (path) => {
    const at = join(folder, path);
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (!stat) return undefined;
    const kind = stat.isFile()
      ? 'file'
      : stat.isSymbolicLink()
        ? 'symlink'
        : stat.isDirectory()
          ? 'directory'
          : 'special';
    const content = kind === 'file' ? readFileSync(at) : Buffer.from(kind === 'symlink' ? readlinkSync(at) : '');
    const oid = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex') as ObjectId;
    return {
      kind,
      size: Number(stat.size),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
      ino: stat.ino,
      mode: Number(stat.mode) & 0o7777,
      oid,
    };
  };
}
