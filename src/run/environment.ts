/** Names by which git takes another repository than the one around the current folder. */
const repositoryNames: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_COMMON_DIR',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
]);

/** The environment of a command in a folder of its own: what would lead its git back to the caller's is left out. */
export function environmentIn(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !repositoryNames.has(name));
  return { ...Object.fromEntries(kept), PWD: folder };
}
