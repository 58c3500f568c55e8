import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import type { FetchLimits, Quarantine, Remote } from '../../core/remote/remotes.js';
import { makeScratchDirectory, noSpace, syncDirectory } from '../../fs/durable.js';
import { brokenAmong } from '../connectivity.js';
import { packDirectory } from '../consolidation.js';
import { freeBytes } from '../full-disk.js';
import type { Network } from '../git-settings.js';
import { namesIn } from '../names-in.js';
import { BatchReader } from '../objects.js';
import { listSnapshotRefs } from '../refs.js';
import { prepareRepository } from '../repository.js';
import { type GitCommand, type GitRunner, throwIfInterrupted } from '../run-git.js';
import { listTreeInPart } from '../tree-listing.js';
import { oversizedAmong } from '../tree-sizes.js';
import { locationOf, otherSide } from './network.js';
import { remoteFailure, tooLarge } from './remote-git.js';

/*
 * What a remote sends goes into a repository of its own below tmp/, which reads the store's objects besides its own.
 * git hashes and checks each object as it comes (index-pack --strict). Whatever else a fetch writes, refs included, it
 * writes there; a crash leaves it to the next sweep.
 */

export interface QuarantineRequest {
  readonly remote: Remote;
  readonly network: Network;
  readonly refs: readonly string[];
  readonly limits: FetchLimits;
}

export async function fetchIntoQuarantine(git: GitRunner, request: QuarantineRequest): Promise<Quarantine> {
  const scratch = makeScratchDirectory(join(git.settings.dataDir, 'tmp'));
  const remove = (): void => {
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    const repository = join(scratch, 'repository');
    prepareRepository(repository);
    const alternate = join(git.settings.storeDirectory, 'objects');
    const inside = git.for({ ...git.settings, storeDirectory: repository, alternate });
    await receive(inside, request);
    return quarantineIn(inside, git.settings.storeDirectory, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function quarantineIn(git: GitRunner, storeDirectory: string, remove: () => void): Quarantine {
  // Found once, for all that follows: nothing changes in here.
  const fit = new Set<ObjectId>();
  return {
    snapshots: () => listSnapshotRefs(git, null),
    open: () => {
      const reader = new BatchReader(git);
      return {
        reader,
        listTree: (tree, passesOver = () => false) => listTreeInPart(reader, tree, passesOver),
        oversizedSnapshots: async (commits) => {
          const unknown = commits.filter((commit) => !fit.has(commit));
          const oversized = await oversizedAmong(reader, unknown);
          for (const commit of unknown) if (!oversized.has(commit)) fit.add(commit);
          return oversized;
        },
      };
    },
    incomplete: async (commits) => new Set(await brokenAmong(git, commits)),
    adopt: (commits) => adopt(git, storeDirectory, commits),
    remove,
  };
}

/**
 * One new pack of what the commits reach and the store does not have: what else was sent is not worth keeping, and might
 * be taken for what it says that it is.
 */
async function adopt(git: GitRunner, storeDirectory: string, commits: readonly ObjectId[]): Promise<void> {
  const directory = packDirectory(storeDirectory);
  await git.output({
    args: [
      'pack-objects',
      '--revs',
      '--local',
      '--non-empty',
      '--delta-base-offset',
      '--quiet',
      join(directory, 'pack'),
    ],
    input: commits.map((commit) => `${commit}\n`).join(''),
    makesFilesIn: [directory],
  });
  syncDirectory(directory);
}

const options = [
  ...['--stdin', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'],
  ...['--no-show-forced-updates', '--refmap='],
];

/** Smaller pieces in memory, one pack however little comes; what lies in a quarantine need not last. */
const settings = [
  ...['core.bigFileThreshold=32m', 'fetch.unpackLimit=1', 'transfer.unpackLimit=1', 'fetch.writeCommitGraph=false'],
  'core.fsync=none',
];

async function receive(git: GitRunner, { remote, network, refs, limits }: QuarantineRequest): Promise<void> {
  const command: GitCommand = {
    args: ['fetch', ...options, ...otherSide(remote, 'upload-pack'), '--', locationOf(remote)],
    input: refs.map((ref) => `${ref}:${ref}\n`).join(''),
    network: { ...network, configuration: [...network.configuration, ...settings] },
  };
  const running = await git.start(command);
  running.stdout.resume();
  const watch = new Watch(git, limits, () => {
    running.kill();
  });
  const { exitCode, stderr } = await running.end.finally(() => {
    watch.end();
  });
  throwIfInterrupted(git.signal);
  watch.refuseOver(remote);
  if (exitCode !== 0) throw remoteFailure(git, remote, stderr);
}

const looksEvery = 200;
/** So much of the disk is left to others. */
const leftFree = 64 * 1024 * 1024;

/** Ends the transfer once more came than may. git has no limit of its own for what it fetches. */
class Watch {
  readonly #directory: string;
  readonly #limits: FetchLimits;
  readonly #room: number;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(git: GitRunner, limits: FetchLimits, stop: () => void) {
    this.#directory = packDirectory(git.settings.storeDirectory);
    this.#limits = limits;
    this.#room = freeBytes(this.#directory) - leftFree;
    this.#timer = setInterval(() => {
      const bytes = bytesIn(this.#directory);
      limits.onBytes(bytes);
      if (bytes > Math.min(limits.bytes, this.#room)) stop();
    }, looksEvery);
  }

  /** @throws SnapError REMOTE_TOO_LARGE, NO_SPACE */
  refuseOver(remote: Remote): void {
    const bytes = bytesIn(this.#directory);
    if (bytes > this.#limits.bytes) throw tooLarge(remote, this.#limits.bytes, 'transfer');
    if (bytes > this.#room) throw noSpace(this.#directory);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function bytesIn(directory: string): number {
  return namesIn(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
