import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

import { makeDirectoryDurably, writeDurably } from '../fs/durable.js';
import { SnapError, systemCode } from '../errors.js';
import { readRegularFile } from '../fs/regular-file.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramSearch {
  /** False: not even a version is noted down. */
  readonly remembers?: boolean;
  readonly dataDir: string;
  /** The caller's environment; only PATH decides where programs are looked for. */
  readonly env: Environment;
  /** Directories whose programs are never run, as bytes: whoever writes in a mount must not choose our git. */
  readonly forbiddenDirectories: () => readonly string[];
}

export interface GitProgram {
  readonly path: string;
  readonly version: string;
}

/** What runs `git version` and answers its output. */
export type AskVersion = (path: string) => Promise<string>;

const neededVersion = [2, 36] as const;

/**
 * The programs that we start: looked for on the caller's PATH, without its relative entries and without those that
 * lie in a forbidden directory, whatever links lead there.
 */
export class Programs {
  readonly #search: ProgramSearch;
  readonly #found = new Map<string, string>();
  #directories: readonly string[] | undefined;
  #forbidden: readonly string[] | undefined;
  #git: Promise<GitProgram> | undefined;

  constructor(search: ProgramSearch) {
    this.#search = search;
  }

  /** The PATH that our children get. */
  get searchPath(): string {
    return this.#allowedDirectories().join(':');
  }

  /** @throws SnapError GIT_MISSING naming the program. */
  find(name: 'git' | 'flock'): string {
    const path = this.findIfThere(name);
    if (path !== undefined) return path;
    throw new SnapError('GIT_MISSING', `${name} was not found in any directory of PATH that may be trusted.`, {
      program: name,
    });
  }

  /** A program that we can do without. */
  findIfThere(name: string): string | undefined {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    for (const directory of this.#allowedDirectories()) {
      const path = join(directory, name);
      if (!isExecutable(path) || this.isForbidden(path)) continue;
      this.#found.set(name, path);
      return path;
    }
    return undefined;
  }

  /**
   * git, new enough. Its version is remembered in the data directory for as long as the program file stays the same,
   * so that normally nothing is started.
   * @throws SnapError GIT_MISSING or GIT_TOO_OLD.
   */
  git(ask: AskVersion): Promise<GitProgram> {
    this.#git ??= this.#checkGit(ask).catch((error: unknown) => {
      // What fails now may work the next time.
      this.#git = undefined;
      throw error;
    });
    return this.#git;
  }

  async #checkGit(ask: AskVersion): Promise<GitProgram> {
    const path = this.find('git');
    const file = join(this.#search.dataDir, 'cache', 'git-version.json');
    const stat = statSync(path, { bigint: true });
    const key = `${path} ${String(stat.size)} ${String(stat.mtimeNs)}`;
    const remembered = rememberedVersion(file, key);
    const version = remembered ?? parseVersion(await ask(path));
    if (!isNewEnough(version)) {
      const needed = neededVersion.join('.');
      throw new SnapError('GIT_TOO_OLD', `${path} is git ${version}; ${needed} or newer is needed.`, {
        found: version,
        needed,
      });
    }
    // Where nothing is kept yet, nothing is made for this.
    if (remembered === undefined && this.#search.remembers !== false && existsSync(this.#search.dataDir))
      remember(file, { key, version });
    return { path, version };
  }

  #allowedDirectories(): readonly string[] {
    this.#directories ??= (this.#search.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin')
      .split(':')
      .filter((directory) => isAbsolute(directory) && !this.isForbidden(directory));
    return this.#directories;
  }

  /** True for what lies in a forbidden directory, whatever links lead there. */
  isForbidden(path: string): boolean {
    this.#forbidden ??= this.#search
      .forbiddenDirectories()
      .map(realPath)
      // With the whole file system as a mount there would be nothing left to start.
      .filter((directory) => directory !== '/');
    if (this.#forbidden.length === 0) return false;
    const real = realPath(Buffer.from(path, 'utf8').toString('latin1'));
    return this.#forbidden.some((directory) => real === directory || real.startsWith(`${directory}/`));
  }
}

/** Where the path really lies, as bytes; the path itself where nothing is there. */
function realPath(bytes: string): string {
  try {
    return realpathSync.native(Buffer.from(bytes, 'latin1'), { encoding: 'latin1' });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return bytes;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

function rememberedVersion(file: string, key: string): string | undefined {
  try {
    const known: unknown = JSON.parse(readRegularFile(file, 'utf8'));
    if (typeof known !== 'object' || known === null || !('key' in known) || !('version' in known)) return undefined;
    return known.key === key && typeof known.version === 'string' ? known.version : undefined;
  } catch (error) {
    // A cache: what cannot be read is found out again.
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function remember(file: string, found: { readonly key: string; readonly version: string }): void {
  try {
    makeDirectoryDurably(dirname(file));
    writeDurably(file, `${JSON.stringify(found)}\n`);
  } catch (error) {
    // A cache: git is asked again next time.
    if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
  }
}

function parseVersion(output: string): string {
  return /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > neededVersion[0] || (major === neededVersion[0] && minor >= neededVersion[1]);
}
