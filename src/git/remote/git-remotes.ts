import { join } from 'node:path';

import {
  type AdvertisedRef,
  type PushProgress,
  type PushedRef,
  parseAdvertised,
  parsePushProgress,
  parsePushReport,
} from '../../core/remote/report.js';
import type { FetchLimits, PushAnswer, Quarantine, Remote, Remotes } from '../../core/remote/remotes.js';
import type { Network } from '../git-settings.js';
import { indexOfPacksIsSound } from '../consolidation.js';
import { type Environment, Programs } from '../programs.js';
import { GitRunner, askVersion } from '../run-git.js';
import { findRepository } from './local-repository.js';
import { locationOf, networkFor, otherSide, sshDirectory } from './network.js';
import { fetchIntoQuarantine } from './quarantine.js';
import { isProgress, remoteFailure, runBounded } from './remote-git.js';

export interface RemotesOptions {
  readonly dataDir: string;
  readonly env: Environment;
  readonly signal: AbortSignal | undefined;
  readonly forbiddenDirectories: () => readonly string[];
}

/** So many refs are handed to git at a time: its arguments are bounded. */
const refsAtOnce = 1000;

/** Other repositories, reached by stock git. What each method guarantees is with its port. */
export class GitRemotes implements Remotes {
  readonly sshDirectory: Remotes['sshDirectory'] = sshDirectory;
  readonly findRepository: Remotes['findRepository'] = findRepository;
  readonly #options: RemotesOptions;
  readonly #programs: Programs;
  readonly #storeDirectory: string;

  constructor(options: RemotesOptions) {
    this.#options = options;
    this.#programs = new Programs(options);
    this.#storeDirectory = join(options.dataDir, 'store.git');
  }

  async list(remote: Remote): Promise<AdvertisedRef[]> {
    // In no repository at all: there may be none here yet.
    const git = this.#runner(join(this.#options.dataDir, 'no-store'), '/');
    const args = ['ls-remote', '--refs', '--quiet', ...otherSide(remote, 'upload-pack'), '--', locationOf(remote)];
    const command = { args: [...args, 'refs/jackin/*'], network: this.#network(remote) };
    const { exitCode, stdout, stderr } = await runBounded(git, remote, command);
    if (exitCode !== 0) throw remoteFailure(git, remote, stderr);
    // git matches the end of names.
    return parseAdvertised(stdout).filter(({ name }) => name.startsWith('refs/jackin/'));
  }

  async push(
    remote: Remote,
    refs: readonly AdvertisedRef[],
    onProgress: (progress: PushProgress) => void,
  ): Promise<PushAnswer> {
    const git = this.#runner(this.#storeDirectory);
    const network = withBitmaps(this.#network(remote), this.#storeDirectory);
    const options = ['--porcelain', '--no-verify', '--progress', ...otherSide(remote, 'receive-pack')];
    const takesLine = (line: string): boolean => {
      const progress = parsePushProgress(line);
      if (progress !== undefined) onProgress(progress);
      return isProgress(line);
    };
    const answers = new Map<string, PushedRef>();
    for (let at = 0; at < refs.length; at += refsAtOnce) {
      const wanted = refs.slice(at, at + refsAtOnce);
      // Without "+": a ref that is there by now is not moved, since no commit of ours has a parent.
      const specs = wanted.map(({ name, oid }) => `${oid}:${name}`);
      const command = { args: ['push', ...options, '--', locationOf(remote), ...specs], network, takesLine };
      const { exitCode, stdout, stderr } = await runBounded(git, remote, command);
      for (const [name, answer] of parsePushReport(stdout)) answers.set(name, answer);
      if (exitCode !== 0 && !wanted.every(({ name }) => answers.has(name)))
        return { refs: answers, failure: remoteFailure(git, remote, stderr) };
    }
    return { refs: answers, failure: null };
  }

  async fetch(remote: Remote, refs: readonly string[], limits: FetchLimits): Promise<Quarantine> {
    const git = this.#runner(this.#storeDirectory);
    return fetchIntoQuarantine(git, { remote, network: this.#network(remote), refs, limits });
  }

  #network(remote: Remote): Network {
    return networkFor(remote, this.#options.env, this.#programs);
  }

  #runner(storeDirectory: string, cwd?: string): GitRunner {
    const { dataDir, env, signal } = this.#options;
    const searchPath = (): string => this.#programs.searchPath;
    const settings = { dataDir, env, storeDirectory, searchPath, ...(cwd === undefined ? {} : { cwd }) };
    return new GitRunner(settings, () => this.#programs.git((path) => askVersion(path, settings)), signal);
  }
}

/** With the bitmaps that lie beside many packs git sends only what the other side lacks. */
function withBitmaps(network: Network, storeDirectory: string): Network {
  if (!indexOfPacksIsSound(storeDirectory)) return network;
  return { ...network, configuration: [...network.configuration, 'core.multiPackIndex=true'] };
}
