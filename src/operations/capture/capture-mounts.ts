import type { EntryPath } from '../../core/entry-path.js';
import { displayPath, isWithin, joinPath, rootPath } from '../../core/entry-path.js';
import type { InstanceName, MountName } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { WritableDirectory } from '../../core/ports.js';
import type { MountKind, MountSummary, RepositoryState } from '../../core/results.js';
import { SnapError, systemCode } from '../../errors.js';
import type { Context, PresentFile } from '../context.js';
import { type CaptureRequest, type Captured, type CapturedTree, capture } from './capture.js';
import { type FoundRepository, type Forced, MountRules } from './mount-rules.js';

/** One mount as it was captured. */
export interface CapturedMount {
  readonly mount: MountRecord;
  readonly captured: CapturedTree;
  readonly kind: MountKind;
  /** The state of the repository whose root the mount is; null for a plain folder. */
  readonly repository: RepositoryState | null;
  readonly nested: readonly ({ readonly path: EntryPath } & RepositoryState)[];
  readonly excludeFiles: readonly { readonly path: EntryPath; readonly content: string }[];
  /** Directories whose ignore rules could not be read. */
  readonly rulesUnknown: readonly EntryPath[];
  readonly rules: MountRules;
  readonly momentNs: bigint;
  /** Keeps what the walk learnt for the next one; a hint, written after the snapshot is published. */
  readonly rememberStats: () => void;
}

export interface CaptureMountsRequest {
  readonly record: InstanceRecord;
  readonly mounts: readonly MountRecord[];
  readonly policy: Policy;
  readonly writer: CaptureRequest['writer'];
  /** Ignore the stat cache. */
  readonly full: boolean;
  readonly scope: (mount: MountName) => readonly EntryPath[] | null;
  readonly forced: (mount: MountName) => Forced | null;
  /** Names in the mount that belong to a restore that is pending. */
  readonly temporaryPrefix: string | null;
}

export async function captureMounts(context: Context, request: CaptureMountsRequest): Promise<CapturedMount[]> {
  const counter = new FileCounter(context);
  const captured: CapturedMount[] = [];
  for (const mount of request.mounts) {
    const root = openRoot(context, mount);
    try {
      captured.push(await captureMount(context, request, mount, root, counter));
    } finally {
      root.close();
    }
  }
  return captured;
}

/** @throws SnapError MOUNT_GONE when there is no directory at the mount's path */
export function openRoot(context: Context, mount: Pick<MountRecord, 'name' | 'path'>): WritableDirectory {
  try {
    return context.host.openMount(mount.path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new SnapError(
      'MOUNT_GONE',
      `The folder ${displayPath(mount.path)} of mount ${mount.name} cannot be opened (${code}).`,
      { mount: mount.name, path: displayPath(mount.path) },
      { cause: error },
    );
  }
}

async function captureMount(
  context: Context,
  request: CaptureMountsRequest,
  mount: MountRecord,
  root: WritableDirectory,
  counter: FileCounter,
): Promise<CapturedMount> {
  const { dev } = root.identity;
  const instance: InstanceName = request.record.name;
  const rules = rulesFor(context, request, mount, dev);
  const recorder = context.statCaches.newRecorder(dev);
  const momentNs = BigInt(context.now().getTime()) * 1_000_000n;
  const captured = await capture({
    root,
    rules: rules.outermost(),
    writer: request.writer,
    cache: request.full ? undefined : context.statCaches.read(instance, mount.name, dev),
    recorder,
    momentNs,
    scope: request.scope(mount.name),
    hasRoom: (bytes) => counter.bytes + bytes <= (request.policy.max_total_size ?? Infinity),
    interruption: context.interruption,
    onFile: (bytes) => {
      counter.add(bytes);
    },
  });
  const repositories = rules.repositories.map((found) => ({ found, state: stateOf(found, captured, rules) }));
  const own = repositories.find(({ found }) => found.path === rootPath);
  return {
    // The folder that was looked at, which need not be the one that the instance began with.
    mount: { ...mount, ...root.identity },
    captured,
    kind: own?.found.repository.kind ?? 'plain',
    repository: own?.state ?? null,
    nested: repositories.filter((one) => one !== own).map(({ found, state }) => ({ path: found.path, ...state })),
    excludeFiles: rules.excludeFiles,
    rulesUnknown: rules.unknown,
    rules,
    momentNs,
    rememberStats: () => {
      recorder.write(instance, mount.name);
    },
  };
}

function rulesFor(context: Context, request: CaptureMountsRequest, mount: MountRecord, rootDev: bigint): MountRules {
  return new MountRules({
    policy: request.policy,
    mountPath: mount.path,
    rootDev,
    mountPoints: context.host.mountPointsBelow(mount.path),
    dataDirectory: context.host.identity(context.host.dataDirectory),
    repositories: context.repositories,
    forced: request.forced(mount.name),
    temporaryPrefix: request.temporaryPrefix,
  });
}

/** The repository's state with `dirty` worked out from what the walk saw. */
function stateOf(
  { path: folder, repository }: FoundRepository,
  captured: CapturedTree,
  rules: MountRules,
): RepositoryState {
  const inside = (path: EntryPath): boolean => isWithin(path, folder) && !rules.isInInnerRepository(path, folder);
  const relative = (path: EntryPath): string => (folder === '' ? path : path.slice(folder.length + 1));
  const present = (path: EntryPath): PresentFile | undefined =>
    toPresent(captured.entries.get(joinUnder(folder, path)));
  const hasUntracked = [...captured.entries.values()].some(
    (entry) =>
      entry.kind !== 'directory' && inside(entry.path) && !(repository.tracked?.has(relative(entry.path)) ?? true),
  );
  return { ...repository.state, dirty: repository.isDirty(present, hasUntracked) };
}

function joinUnder(folder: EntryPath, path: EntryPath): EntryPath {
  return folder === '' ? path : joinPath(folder, path);
}

function toPresent(entry: Captured | undefined): PresentFile | undefined {
  if (entry === undefined) return undefined;
  const { kind, size, mtimeNs, ctimeNs, ino, mode } = entry.stat;
  return { kind, size, mtimeNs, ctimeNs, ino, mode, ...(entry.kind === 'directory' ? {} : { oid: entry.oid }) };
}

export function summarize(captured: CapturedMount): MountSummary {
  const { mount, kind, repository, nested } = captured;
  return mountSummary({ name: mount.name, path: mount.path, kind, nested }, repository);
}

const noRepository: RepositoryState = {
  head: null,
  branch: null,
  upstream: null,
  dirty: null,
  operation: null,
  unknown: [],
};

/** A mount together with the state of its own repository, where it has one. */
export function mountSummary(
  mount: Pick<MountSummary, 'name' | 'path' | 'kind' | 'nested'>,
  repository: RepositoryState | null,
): MountSummary {
  const { head, ...state } = repository ?? noRepository;
  return { ...mount, baseCommit: head, ...state };
}

/** Counts what is stored, over all mounts, and tells of progress now and then. */
class FileCounter {
  readonly #context: Context;
  #files = 0;
  bytes = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  add(bytes: number): void {
    this.#files += 1;
    this.bytes += bytes;
    if (this.#files % 128 !== 0) return;
    this.#context.onProgress({
      phase: 'store',
      files: this.#files,
      bytes: this.bytes,
      totalFiles: null,
      totalBytes: null,
    });
  }
}
