import type { FindData } from '../core/data-ranges.js';
import type { RemotesOptions } from '../git/remote/git-remotes.js';
import type { ProgramSearch } from '../git/programs.js';
import type { SnapOptions } from '../core/requests.js';
import { SnapError, systemCode } from '../errors.js';
import type { Context } from '../operations/context.js';

/*
 * Adapters that are loaded when they are first used: most commands need none of them.
 */

/** Loaded for the first `.git` that a walk meets. */
export const repositories: Context['repositories'] = {
  read: async (directory, gitEntry) =>
    (await loaded(import('../git/user-repo/repositories.js'))).readRepository(directory, gitEntry),
  countAhead: async ({ descriptorPath }, gitEntry, commits) =>
    (await loaded(import('../git/user-repo/count-ahead.js'))).countAheadForSave(descriptorPath, gitEntry, commits),
  readWork: async ({ descriptorPath }, gitEntry) =>
    (await loaded(import('../git/user-repo/read-work.js'))).readWork(descriptorPath, gitEntry),
  readSelfRunning: async ({ descriptorPath }, gitEntry) =>
    (await loaded(import('../git/user-repo/self-running.js'))).readSelfRunning(descriptorPath, gitEntry),
};

/** Code that cannot be read says nothing of the folder that it was to look at. */
async function loaded<Code>(code: Promise<Code>): Promise<Code> {
  try {
    return await code;
  } catch (cause) {
    const message = `A part of the program cannot be loaded: ${(cause as Error).message}.`;
    throw new SnapError('SYSTEM_FAILED', message, { problem: systemCode(cause) ?? 'unknown' }, { cause });
  }
}

/** Both are loaded for the first file with vast holes. What keeps them from looking is no matter of the file: it is read. */
export function dataFinder(search: ProgramSearch): FindData {
  return async (file) => {
    try {
      const { Programs } = await import('../git/programs.js');
      const programs = new Programs(search);
      const path = programs.findIfThere('tar');
      if (path === undefined) return undefined;
      return await (await import('../run/find-data.js')).findData({ path, searchPath: programs.searchPath }, file);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  };
}

/** Loaded for what reaches another repository. */
export function lateRemotes(options: RemotesOptions): Context['remotes'] {
  return async () => new (await import('../git/remote/git-remotes.js')).GitRemotes(options);
}

/** Loaded for the first session of jackin's. */
export function jackinHome(env: NonNullable<SnapOptions['env']>, cwd: string | undefined): Context['jackin'] {
  return async (home) => {
    const { FileJackinHome, jackinPlaces } = await import('../instance/jackin/file-jackin-home.js');
    const places = jackinPlaces(env, cwd ?? '/');
    return new FileJackinHome(home === undefined ? places : { ...places, home });
  };
}

/** Docker is looked for, and asked, for the first container. */
export function containerLook(search: ProgramSearch): Context['containers']['look'] {
  return async (name, avoid) => {
    const { Programs } = await import('../git/programs.js');
    const forbiddenDirectories = (): string[] => [...search.forbiddenDirectories(), ...avoid];
    const programs = new Programs({ ...search, forbiddenDirectories });
    const path = programs.findIfThere('docker');
    if (path === undefined) return { state: 'unknown', why: 'there is no docker on PATH that may be trusted' };
    const { dockerEnvironment, lookAtContainer } = await import('../run/look-at-container.js');
    const env = dockerEnvironment(search.env, (folder) => !programs.isForbidden(folder));
    return lookAtContainer({ path, env: { ...env, PATH: programs.searchPath } }, name);
  };
}
