import { GuardedDirectory, type Reading, absent, read } from './guarded-directory.js';

/** Where a repository keeps its things: each worktree its own HEAD and index, all of them the same refs and objects. */
export interface Location {
  /** Paths as they were resolved, bytes. */
  readonly gitDirPath: string;
  readonly commonDirPath: string;
  readonly gitDir: GuardedDirectory;
  readonly commonDir: GuardedDirectory;
  close(): void;
}

const linkLimit = 64 * 1024;

/**
 * Follows a `.git` file and `commondir` as data. They may lead anywhere on the host, as git lets them; what is found
 * there is only read, and only as a repository.
 */
export function locate(folder: string, gitEntry: 'directory' | 'file'): Reading<Location> {
  const gitDirPath = gitEntry === 'directory' ? read(`${folder}/.git`) : namedByFile(folder);
  if (gitDirPath.kind !== 'read') return gitDirPath;
  const gitDir = GuardedDirectory.open(gitDirPath.value);
  if (gitDir.kind !== 'read') return gitDir;
  const common = locateCommon(gitDirPath.value, gitDir.value);
  if (common.kind === 'read') return common;
  gitDir.value.close();
  return common;
}

/** Absent when nothing is there any more; a malformed file names no repository for git either. */
function namedByFile(folder: string): Reading<string> {
  const root = GuardedDirectory.open(`${folder}/.`);
  if (root.kind !== 'read') return root;
  const file = root.value.read('.git', linkLimit);
  root.value.close();
  if (file.kind !== 'read') return file;
  const path = /^gitdir: ?([^\n\0]+?)\r?\n*$/.exec(file.value.toString('latin1'))?.[1];
  return path === undefined ? absent : read(below(folder, path));
}

function locateCommon(gitDirPath: string, gitDir: GuardedDirectory): Reading<Location> {
  const file = gitDir.read('commondir', linkLimit);
  if (file.kind === 'unreadable') return file;
  if (file.kind === 'absent') {
    const close = (): void => gitDir.close();
    return read({ gitDirPath, commonDirPath: gitDirPath, gitDir, commonDir: gitDir, close });
  }
  const commonDirPath = below(gitDirPath, file.value.toString('latin1').replace(/[\r\n]+$/, ''));
  const commonDir = GuardedDirectory.open(commonDirPath);
  if (commonDir.kind !== 'read') return commonDir;
  const close = (): void => {
    gitDir.close();
    commonDir.value.close();
  };
  return read({ gitDirPath, commonDirPath, gitDir, commonDir: commonDir.value, close });
}

function below(directory: string, path: string): string {
  return path.startsWith('/') ? path : `${directory}/${path}`;
}
