import type { EntryStat } from './entry.js';
import type { EntryPath, HostPath } from './entry-path.js';
import { ancestorsOf, baseName } from './entry-path.js';

/*
 * What counts as secret by its name alone. Contents are never looked at. Names are bytes and compared exactly.
 */

const secretFile =
  /^(?:\.env(?:\.(?!(?:example|sample|template)$)[^]*)?|[^]*\.(?:pem|key)|id_(?:rsa|ed25519)[^]*|credentials\.json|\.(?:netrc|npmrc|pypirc|git-credentials))$/;

/** The same one by one, as people write such patterns. */
const secretPatterns: readonly (readonly [pattern: string, test: RegExp])[] = [
  ['.env.*', /^\.env\./],
  ['.env', /^\.env$/],
  ['*.pem', /\.pem$/],
  ['*.key', /\.key$/],
  ['id_rsa*', /^id_rsa/],
  ['id_ed25519*', /^id_ed25519/],
];

const secretDirectories: ReadonlySet<string> = new Set(['.ssh', '.aws', '.gnupg', '.kube', '.docker']);

/** Secret when they stand directly in `.config`. */
const secretConfigurations: ReadonlySet<string> = new Set(['gh', 'gcloud']);

/**
 * True when the path itself is secret by name: a file, link or anything else by the file patterns, a directory by the
 * directory names. What lies below a secret directory is not asked, because the directory stands for all of it.
 * @param rootName the base name of the mount, so that `gh` in a mount of `.config` is found
 */
export function isSecret(path: EntryPath, kind: EntryStat['kind'], rootName = ''): boolean {
  const name = baseName(path);
  if (kind !== 'directory') return secretFile.test(name);
  if (secretDirectories.has(name)) return true;
  return secretConfigurations.has(name) && parentName(path, rootName) === '.config';
}

/** The pattern that makes a secret path one, for people. */
export function secretPattern(path: EntryPath, kind: EntryStat['kind']): string {
  const name = baseName(path);
  if (kind === 'directory') return secretDirectories.has(name) ? `${name}/` : `.config/${name}/`;
  return secretPatterns.find(([, test]) => test.test(name))?.[0] ?? name;
}

/** True when the path is secret or lies below a secret directory. */
export function isWithinSecret(path: EntryPath, kind: EntryStat['kind'], rootName = ''): boolean {
  for (const ancestor of ancestorsOf(path)) if (isSecret(ancestor, 'directory', rootName)) return true;
  return isSecret(path, kind, rootName);
}

/** True when the host path is a secret directory or lies within one: such a folder is no mount without consent. */
export function isSecretMount(hostPath: HostPath): boolean {
  const names = hostPath.split('/').filter((name) => name !== '');
  return names.some(
    (name, at) => secretDirectories.has(name) || (secretConfigurations.has(name) && names[at - 1] === '.config'),
  );
}

function parentName(path: EntryPath, rootName: string): string {
  const end = path.lastIndexOf('/');
  if (end < 0) return rootName;
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end);
}
