import { type EntryPath, rootPath } from '../../core/entry-path.js';
import type { Directory, RecordedRepository } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import type { Repositories, UserRepository } from '../context.js';

/** The repositories that the last save found, by what they are now. */
export interface RecordedRepositories {
  readonly unchanged: ReadonlyMap<EntryPath, UserRepository>;
  readonly changed: readonly EntryPath[];
}

/** Reads each once more. Their rules and states lie in their `.git`, which no walk goes into. */
export async function lookAtRecorded(
  repositories: Repositories,
  root: Directory,
  recorded: readonly RecordedRepository[],
): Promise<RecordedRepositories> {
  const unchanged = new Map<EntryPath, UserRepository>();
  const changed: EntryPath[] = [];
  for (const { path, fingerprint } of recorded) {
    const repository = await readAt(repositories, root, path);
    if (repository?.fingerprint === fingerprint) unchanged.set(path, repository);
    else changed.push(path);
  }
  return { unchanged, changed };
}

async function readAt(
  repositories: Repositories,
  root: Directory,
  path: EntryPath,
): Promise<UserRepository | undefined> {
  return atRepository(root, path, (directory, kind) => repositories.read(directory, kind));
}

/** Does something with a folder below the root that has a `.git`; undefined where there is none, or no way to it. */
export async function atRepository<Result>(
  root: Directory,
  path: EntryPath,
  act: (directory: Directory, gitEntry: 'directory' | 'file') => Promise<Result>,
): Promise<Result | undefined> {
  const entered: Directory[] = [];
  try {
    let directory = root;
    for (const name of path === rootPath ? [] : path.split('/')) {
      directory = directory.enter(name);
      entered.push(directory);
    }
    const kind = directory.stat('.git')?.kind;
    return kind === 'directory' || kind === 'file' ? await act(directory, kind) : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    for (const directory of entered.reverse()) directory.close();
  }
}
