import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Random } from '../../test/support/random.js';

/** A package of those that the lock file names, as it is installed in this checkout. */
export interface Package {
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly content: Buffer }[];
}

// Larger files are a few bundles that would make up most of all bytes.
const largest = 600_000;

/** All installed packages, in an order that the random numbers decide. */
export function readPackages(root: string, random: Random): Package[] {
  const modules = join(root, 'node_modules');
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : name,
    )
    .sort();
  return shuffled(names, random).map((name) => ({ name, files: readFiles(join(modules, name)) }));
}

function readFiles(folder: string): Package['files'] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  return found
    .map((path) => ({ path: storedPath(path), content: readFileSync(join(folder, path)) }))
    .filter(({ content }) => content.length <= largest);
}

// Beside a package.json, jackin-snap leaves folders of this name out, and the peers do not.
function storedPath(path: string): string {
  return path
    .split(sep)
    .map((name) => (name === 'node_modules' ? 'modules' : name))
    .join('/');
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const order = [...list];
  for (let at = order.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}
