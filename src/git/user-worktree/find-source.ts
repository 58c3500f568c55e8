import { realpathSync } from 'node:fs';

import type { EntryPath, HostPath } from '../../core/entry-path.js';
import { displayPath, parentOf } from '../../core/entry-path.js';
import type { WorktreeSource } from '../../core/worktrees.js';
import { SnapError, systemCode } from '../../errors.js';
import { type RepositoryConfig, parseConfig } from '../user-repo/config-file.js';
import { GuardedDirectory, type Reading } from '../user-repo/guarded-directory.js';
import { type Location, locate } from '../user-repo/location.js';
import { readHead, resolveRef } from '../user-repo/refs.js';
import { textOfBytes } from '../../core/entry-path.js';

/**
 * The repository around a folder, as a source of worktrees.
 * @param folder a real path
 * @throws SnapError NOT_A_REPOSITORY, REPOSITORY_UNSUITABLE when it is none that we write to
 */
export function findSource(folder: HostPath): WorktreeSource {
  for (let root = folder; ; root = parentOf(root)) {
    const gitEntry = gitEntryIn(root);
    if (gitEntry !== undefined) return readSource(folder, root, gitEntry);
    if (root === '/' || root === '') break;
  }
  const shown = displayPath(folder);
  throw new SnapError('NOT_A_REPOSITORY', `${shown} lies in no git repository.`, { path: shown });
}

export function unsuitable(path: HostPath, why: string): SnapError<'REPOSITORY_UNSUITABLE'> {
  const shown = displayPath(path);
  return new SnapError('REPOSITORY_UNSUITABLE', `No worktree can be made of ${shown}: ${why}.`, { path: shown, why });
}

function gitEntryIn(root: HostPath): 'directory' | 'file' | undefined {
  const opened = GuardedDirectory.open(`${root}/.`);
  if (opened.kind !== 'read') return undefined;
  try {
    const entry = opened.value.enter('.git');
    if (entry.kind === 'read') entry.value.close();
    if (entry.kind === 'read') return 'directory';
    if (entry.kind === 'unreadable') throw unsuitable(root, `its .git cannot be used (${entry.why})`);
    return opened.value.exists('.git') ? 'file' : undefined;
  } finally {
    opened.value.close();
  }
}

function readSource(folder: HostPath, root: HostPath, gitEntry: 'directory' | 'file'): WorktreeSource {
  const location = needed(root, locate(root, gitEntry), 'its .git leads to no repository');
  try {
    const config = readConfig(root, location);
    refuseForeign(root, gitEntry, location, config);
    refuseOddFormat(root, config);
    const head = needed(root, readHead(location.gitDir), 'it has no HEAD');
    const commit =
      'oid' in head
        ? head.oid
        : needed(root, resolveRef(location.gitDir, location.commonDir, head.ref), 'it has no commit yet');
    const branch = 'ref' in head ? (textOfBytes(head.ref.replace(/^refs\/heads\//, '')) ?? null) : null;
    const inside = folder.slice(root === '/' ? 1 : root.length + 1) as EntryPath;
    return { root, commonDir: realOf(location.commonDirPath), commit, branch, inside };
  } finally {
    location.close();
  }
}

function needed<Value>(root: HostPath, reading: Reading<Value>, why: string): Value {
  if (reading.kind === 'read') return reading.value;
  throw unsuitable(root, reading.kind === 'absent' ? why : reading.why);
}

function readConfig(root: HostPath, { commonDir }: Location): RepositoryConfig {
  const content = needed(root, commonDir.read('config', 1024 * 1024), 'it has no config');
  const config = parseConfig(content.toString('latin1'));
  if (config === undefined) throw unsuitable(root, 'its config is malformed');
  return config;
}

/**
 * Whoever works in a folder can make its `.git` lead to another repository, which we would then write to. So the
 * repository has to know the folder as its own.
 */
function refuseForeign(
  root: HostPath,
  gitEntry: 'directory' | 'file',
  location: Location,
  config: RepositoryConfig,
): void {
  const isLinked = location.commonDirPath !== location.gitDirPath;
  if (gitEntry === 'directory' ? isLinked : !isOwn(root, location, isLinked, config))
    throw unsuitable(root, 'its .git leads to a repository that does not know this folder');
}

function isOwn(root: HostPath, location: Location, isLinked: boolean, config: RepositoryConfig): boolean {
  const { gitDir, gitDirPath, commonDirPath } = location;
  if (!isLinked) {
    const worktree = config.get('core', null, 'worktree');
    return worktree !== undefined && isSamePath(below(gitDirPath, worktree), root);
  }
  const back = gitDir.read('gitdir', 64 * 1024);
  const file = back.kind === 'read' ? back.value.toString('latin1').replace(/\n+$/, '') : '';
  const isBelow = isSamePath(`${realOf(gitDirPath)}/../..`, commonDirPath);
  return isBelow && file.endsWith('/.git') && isSamePath(below(gitDirPath, file.slice(0, -'/.git'.length)), root);
}

function below(folder: string, path: string): string {
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

function isSamePath(a: string, b: string): boolean {
  return realOf(a) === realOf(b);
}

function realOf(path: string): HostPath {
  try {
    return realpathSync.native(Buffer.from(path, 'latin1'), { encoding: 'latin1' }) as HostPath;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return path as HostPath;
  }
}

const harmlessExtensions = new Set([
  'noop',
  'objectformat',
  'refstorage',
  'preciousobjects',
  'partialclone',
  'worktreeconfig',
  'relativeworktrees',
]);

function refuseOddFormat(root: HostPath, config: RepositoryConfig): void {
  const objects = formatOf(config, 'objectformat', 'sha1');
  if (objects !== 'sha1') throw unsuitable(root, `its objects are in the format ${JSON.stringify(objects)}`);
  const refs = formatOf(config, 'refstorage', 'files');
  if (refs !== 'files') throw unsuitable(root, `its refs are in the format ${JSON.stringify(refs)}`);
  const version = config.get('core', null, 'repositoryformatversion') ?? '0';
  if (version !== '0' && version !== '1') throw unsuitable(root, `its format is version ${JSON.stringify(version)}`);
  const odd = version === '1' ? oddExtension(config) : undefined;
  if (odd !== undefined) throw unsuitable(root, `it has the extension ${JSON.stringify(odd)}`);
}

function formatOf(config: RepositoryConfig, extension: string, usual: string): string {
  return config.get('extensions', null, extension)?.toLowerCase() ?? usual;
}

function oddExtension(config: RepositoryConfig): string | undefined {
  const extensions = [...config.entries()].map(([key]) => /^extensions\0(?:[^]*\0)?([^\0]*)$/.exec(key)?.[1]);
  return extensions.find((extension) => extension !== undefined && !harmlessExtensions.has(extension));
}
