import { type TomlFile, checkedAt, problemAt } from './toml-file.js';
import { tableIn, tableSchema } from './workspace-file.js';
import * as z from '../../core/schema.js';

export interface GlobalMount {
  readonly source: string;
  readonly destination: string;
  readonly readonly: boolean;
}

/**
 * The mounts of `[docker.mounts]` that hold for a role: those without a scope, those of the scopes `*` and `<owner>/*`, and
 * its own; of those with one name, the narrowest. @throws SnapError CONFIGURATION_INVALID with file and line
 */
export function globalMounts(file: TomlFile, role: string, home: string | undefined): GlobalMount[] {
  const table = tableIn(file, ['docker', 'mounts']) ?? {};
  const found = new Map<string, { readonly rank: number; readonly mount: GlobalMount }>();
  const add = (name: string, key: readonly string[], value: unknown, rank: number): void => {
    if ((found.get(name)?.rank ?? -1) <= rank) found.set(name, { rank, mount: mountAt(file, key, value, home) });
  };
  for (const [name, value] of Object.entries(table)) {
    const key = ['docker', 'mounts', name];
    const entry = checkedAt(file, key, value, tableSchema);
    if (typeof entry['src'] === 'string') {
      add(name, key, entry, 0);
      continue;
    }
    const rank = rankOf(name, role);
    if (rank === undefined) continue;
    for (const [inner, mount] of Object.entries(entry)) add(inner, [...key, inner], mount, rank);
  }
  return [...found.values()].map(({ mount }) => mount);
}

/** How narrow a scope is; undefined for one that the role is not in. */
function rankOf(scope: string, role: string): number | undefined {
  if (scope === role) return 3;
  if (scope === '*') return 1;
  return scope.endsWith('/*') && role.startsWith(scope.slice(0, -1)) ? 2 : undefined;
}

function mountAt(file: TomlFile, key: readonly string[], value: unknown, home: string | undefined): GlobalMount {
  const { src, dst, readonly } = checkedAt(file, key, value, mountSchema);
  const source = home === undefined ? src : src.replace(/^~(?=\/|$)/, home);
  if (!source.startsWith('/')) throw problemAt(file, [...key, 'src'], 'it must be an absolute path');
  return { source, destination: dst, readonly: readonly ?? false };
}

const mountSchema = z.object({ src: z.string(), dst: z.string(), readonly: z.optional(z.boolean()) });
