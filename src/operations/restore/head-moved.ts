import { displayPath, pathFromJson } from '../../core/entry-path.js';
import type { PlannedMount } from './plan-mounts.js';

interface Head {
  readonly head: string | null;
  readonly branch: string | null;
}

/**
 * Says so where a branch of the user's has moved since: a restore of files puts no HEAD back.
 * @param withRepositories whether it puts back those of the mounts themselves
 */
export function headMessages(planned: readonly PlannedMount[], withRepositories: boolean): string[] {
  return planned.flatMap(({ name, content: { manifest }, live }) => {
    const nestedNow = new Map<string, Head>(live.nested.map((repository) => [repository.path, repository]));
    const nested = manifest.nested.flatMap((then) => {
      const path = pathFromJson(then.path);
      return headMessage(`HEAD of ${name}:${displayPath(path)}`, then, nestedNow.get(path) ?? null);
    });
    const own = withRepositories ? [] : headMessage(`HEAD of mount ${name}`, manifest.repository, live.repository);
    return [...own, ...nested];
  });
}

function headMessage(whose: string, then: Head | null, now: Head | null): string[] {
  if (then === null || now === null || (then.head === now.head && then.branch === now.branch)) return [];
  const moved = `${whose} moved since the snapshot: ${spell(then)} then, ${spell(now)} now.`;
  return [`${moved} It stays where it is; only files are restored.`];
}

function spell({ head, branch }: Head): string {
  return `${head?.slice(0, 12) ?? 'no commit'} (${branch ?? 'detached'})`;
}
