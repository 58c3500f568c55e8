import { join } from 'node:path';

import type { Environment } from './programs.js';

/** What every git process of ours is told. */
export interface GitSettings {
  readonly dataDir: string;
  readonly storeDirectory: string;
  /** The PATH for git and what it starts. */
  readonly searchPath: () => string;
  readonly env: Environment;
  /**
   * Descriptors of the locks that this process holds. A step that changes refs holds them too: were we killed, it would
   * go on, and nobody may take away what it is about to name.
   */
  readonly heldLocks?: ReadonlySet<number>;
  /** Objects that every process reads besides the store's own. */
  readonly alternate?: string;
  /** Where git starts; default: in the store. */
  readonly cwd?: string;
}

/** What a process gets that is to reach another repository. All others reach none. */
export interface Network {
  /** Configuration besides the usual one, which it wins over. */
  readonly configuration: readonly string[];
  /** Variables besides the usual ones. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** It keeps the terminal, so that git and ssh can ask there. */
  readonly onTerminal: boolean;
}

/** Configuration by argument: it wins over the store's own file, which is not believed. */
export const configuration: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.fsync=all',
  'core.fsyncMethod=fsync',
  'core.logAllRefUpdates=false',
  'core.quotePath=true',
  'core.pager=cat',
  'core.askPass=',
  'core.commitGraph=false',
  // Where such an index is damaged, git reads nothing at all.
  'core.multiPackIndex=false',
  'core.sharedRepository=0600',
  'core.filesRefLockTimeout=2000',
  'core.packedRefsTimeout=10000',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'log.mailmap=false',
  'credential.helper=',
  'protocol.ext.allow=never',
  'transfer.fsckObjects=true',
];

/** The arguments before the command. */
export function storeArguments(settings: Pick<GitSettings, 'storeDirectory'>): string[] {
  return [`--git-dir=${settings.storeDirectory}`, ...configuration.flatMap((setting) => ['-c', setting])];
}

export interface EnvironmentWishes {
  readonly replacements?: boolean;
  readonly alternate?: string | undefined;
  readonly objectDirectory?: string;
  readonly network?: Network;
}

/**
 * The whole environment of a git process: nothing of the caller's but PATH, the terminal's kind and its width. No
 * configuration, attributes or ignore file of the system or the user is read: HOME is a directory that is never made.
 */
export function environmentOf(settings: GitSettings, wishes: EnvironmentWishes = {}): Record<string, string> {
  const alternate = wishes.alternate ?? settings.alternate;
  return {
    ...passedOn(settings.env, ['TERM', 'COLUMNS', 'TZ']),
    PATH: settings.searchPath(),
    HOME: join(settings.dataDir, 'no-home'),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_LITERAL_PATHSPECS: '1',
    ...(wishes.replacements === true ? {} : { GIT_NO_REPLACE_OBJECTS: '1' }),
    ...(wishes.objectDirectory === undefined ? {} : { GIT_OBJECT_DIRECTORY: wishes.objectDirectory }),
    ...(alternate === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPathList(alternate) }),
    ...passedOn(wishes.network?.environment ?? {}, Object.keys(wishes.network?.environment ?? {})),
  };
}

function passedOn(env: Environment, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** One path for a variable that holds a list: git reads a quoted one as it stands, colons included. */
function quotedPathList(path: string): string {
  return `"${path.replace(/[\\"]/g, (character) => `\\${character}`)}"`;
}
