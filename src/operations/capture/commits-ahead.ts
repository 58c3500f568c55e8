import type { EntryPath } from '../../core/entry-path.js';
import type { Directory, RecordedRepository } from '../../core/ports.js';
import type { Repositories, UserRepository } from '../context.js';
import { atRepository } from './recorded-repositories.js';

/** How far the repositories of a mount are ahead of their upstreams, by path. */
export type CommitsAhead = ReadonlyMap<EntryPath, NonNullable<RecordedRepository['ahead']>>;

/** Counts anew only where the commits are others than when it was last recorded. */
export async function countCommitsAhead(
  repositories: Repositories,
  root: Directory,
  found: readonly { readonly path: EntryPath; readonly repository: UserRepository }[],
  recorded: readonly RecordedRepository[],
): Promise<CommitsAhead> {
  const counts = new Map<EntryPath, NonNullable<RecordedRepository['ahead']>>();
  for (const { path, repository } of found) {
    const { state, upstreamCommit: upstream } = repository;
    const { head } = state;
    if (head === null || upstream === null) continue;
    const commits = { head, upstream };
    const known = recorded.find((one) => one.path === path)?.ahead;
    if (known?.head === head && known.upstream === upstream) counts.set(path, known);
    else counts.set(path, { ...commits, count: await countAt(repositories, root, path, commits) });
  }
  return counts;
}

async function countAt(
  repositories: Repositories,
  root: Directory,
  path: EntryPath,
  commits: Parameters<Repositories['countAhead']>[2],
): Promise<number | null> {
  if (commits.head === commits.upstream) return 0;
  const count = await atRepository(root, path, (directory, kind) => repositories.countAhead(directory, kind, commits));
  return count ?? null;
}
