import type { StoredFile } from '../core/entry.js';
import { type HostPath, baseName, parentPath } from '../core/entry-path.js';
import { systemCode } from '../errors.js';
import { openMount } from '../fs/held-directory.js';
import { hasher } from '../git/pack/hasher.js';
import { DirectoryChain } from '../operations/restore/directory-chain.js';
import { hasAttributes, hasContent } from '../operations/restore/entry-state.js';
import { type Batch, type ConfirmJob, type Outcomes, done, notDone } from './jobs.js';

/** Looks at files as a verification does: by directories that are held, attributes, and content by its hash. */
export async function confirmFiles({ root, jobs }: Extract<Batch, { kind: 'confirm' }>): Promise<Outcomes> {
  const outcomes = new Uint8Array(jobs.length);
  const directory = openMount(root as HostPath);
  const chain = new DirectoryChain(directory, () => undefined);
  try {
    for (const [at, job] of jobs.entries()) outcomes[at] = (await isAsItShouldBe(chain, job)) ? done : notDone;
  } finally {
    chain.close();
    directory.close();
  }
  return outcomes;
}

async function isAsItShouldBe(chain: DirectoryChain, job: ConfirmJob): Promise<boolean> {
  const state: StoredFile = { kind: 'file', sparse: false, ...job };
  try {
    const directory = chain.at(parentPath(job.path));
    const name = baseName(job.path);
    const stat = directory.stat(name);
    if (stat?.kind !== 'file' || !hasAttributes(stat, state)) return false;
    return await hasContent(directory, name, state, stat, hasher);
  } catch (error) {
    // It is looked at again by somebody who may lend what is missing here.
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
