import type { Command } from 'commander';
import type { FetchRequest } from '../../index.js';
import type { GlobalOptions } from '../command-line.js';
import { canAsk } from '../confirm.js';
import type { Surroundings } from '../surroundings.js';

export interface RemoteOptions {
  readonly all?: true;
  readonly dryRun?: true;
  readonly credentialHelper?: string;
}

/** What pushes and fetches are told alike. */
export function addRemoteOptions(command: Command): Command {
  return command
    .option('-a, --all', 'all instances')
    .option('-n, --dry-run', 'change nothing, here or there')
    .option('--credential-helper <helper>', "start this one of git's for https: cache, store, a path …");
}

/** Of what was told, what the library is asked alike. */
export function toRequest(
  remote: string,
  { all, dryRun, credentialHelper }: RemoteOptions,
  mayAsk: boolean,
): Pick<FetchRequest, 'remote' | 'all' | 'dryRun' | 'credentialHelper' | 'mayAsk'> {
  return { remote, all, dryRun, credentialHelper, mayAsk };
}

/** git and ssh ask on the terminal, where somebody is. */
export function mayAskOn({ output }: Surroundings, { json, quiet }: GlobalOptions): boolean {
  return canAsk(output) && !json && !quiet;
}
