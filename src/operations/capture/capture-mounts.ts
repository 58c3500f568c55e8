import type { EntryPath, HostPath } from '../../core/entry-path.js';
import type { AttributeLine } from '../../core/manifest.js';
import { displayPath, rootPath } from '../../core/entry-path.js';
import type { InstanceName, MountName } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { Directory, StatCache, WritableDirectory } from '../../core/ports.js';
import type { MountKind, MountSummary, RepositoryState } from '../../core/results.js';
import type { StackPreset } from '../../core/stacks/preset.js';
import { SnapError, systemCode } from '../../errors.js';
import type { Changes, Context } from '../context.js';
import { type RepositoryView, viewOf } from './repository-view.js';
import { type CommitsAhead, countCommitsAhead } from './commits-ahead.js';
import { type AttributeDefaults, attributesOf, usualAttributes } from './attributes.js';
import { type CaptureRequest, type CapturedTree, capture } from './capture.js';
import { Grafts, inOrderOfWalk, isLinkGroupParted } from './grafts.js';
import { FileCounter } from './file-counter.js';
import { type FoundRepository, type Forced, MountRules, type MountRulesOptions } from './mount-rules.js';
import { type StacksInForce, ownPresets, stacksInForce } from './stacks-in-force.js';
import { type PassedOver, isAlike, lookAtRecord } from './recorded.js';
import type { RecordedRepositories } from './recorded-repositories.js';

/** One mount as it was captured. */
export interface CapturedMount {
  readonly mount: MountRecord;
  readonly captured: CapturedTree;
  readonly attributes: MountAttributes;
  readonly kind: MountKind;
  /** The state of the repository whose root the mount is; null for a plain folder. */
  readonly repository: RepositoryState | null;
  readonly nested: readonly ({ readonly path: EntryPath } & RepositoryState)[];
  /** All of them, the mount's own too. `changes` is what of their files is not committed, one by one. */
  readonly repositories: readonly {
    readonly path: EntryPath;
    readonly state: RepositoryState;
    readonly changes: (directory: Directory) => Promise<Changes>;
  }[];
  readonly excludeFiles: readonly { readonly path: EntryPath; readonly content: string }[];
  /** Directories whose ignore rules could not be read. */
  readonly rulesUnknown: readonly EntryPath[];
  readonly rules: MountRules;
  readonly stacks: StacksInForce;
  readonly momentNs: bigint;
  /** Keeps what the walk learnt for the next one; a hint, written after the snapshot is published. */
  readonly rememberStats: () => void;
}

/** Modes and owners of a mount: what is usual, and all exceptions, in the order of the walk. */
export interface MountAttributes {
  readonly defaults: AttributeDefaults;
  readonly lines: readonly AttributeLine[];
}

export interface CaptureMountsRequest {
  readonly record: InstanceRecord;
  readonly mounts: readonly MountRecord[];
  readonly policy: Policy;
  readonly writer: CaptureRequest['writer'];
  /** Ignore the stat cache. */
  readonly full: boolean;
  /**
   * Take over what is as the last save recorded it. Its entries are then not among those that were captured. The
   * objects that the last snapshot needs must be known to be in the store.
   */
  readonly graft: boolean;
  /** In the place of `graft`: just these subtrees are taken over; see whether they were. */
  readonly passOver?: (mount: MountName) => PassedOver | undefined;
  readonly scope: (mount: MountName) => readonly EntryPath[] | null;
  readonly forced: (mount: MountName) => Forced | null;
  /** How files are read; default: stably, in full. */
  readonly read?: CaptureRequest['read'];
  /** Names in the mount that belong to a restore that is pending. */
  readonly temporaryPrefix: string | null;
  /** Say of each repository how far it is ahead of its upstream. */
  readonly countAhead?: boolean;
}

export async function captureMounts(context: Context, request: CaptureMountsRequest): Promise<CapturedMount[]> {
  const shared = { counter: new FileCounter(context), own: await ownPresets(context, request.policy) };
  const captured: CapturedMount[] = [];
  for (const mount of request.mounts) {
    const root = openRoot(context, mount, request.record.name);
    try {
      captured.push(await captureMount(context, request, mount, root, shared));
    } finally {
      root.close();
    }
  }
  return captured;
}

/** @throws SnapError MOUNT_GONE when there is no directory at the mount's path */
export function openRoot(
  context: Context,
  mount: Pick<MountRecord, 'name' | 'path'>,
  instance?: InstanceName,
): WritableDirectory {
  try {
    return context.host.openMount(mount.path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new SnapError(
      'MOUNT_GONE',
      `The folder ${displayPath(mount.path)} of mount ${mount.name} cannot be opened (${code}).`,
      { mount: mount.name, path: displayPath(mount.path), ...(instance === undefined ? {} : { instance }) },
      { cause: error },
    );
  }
}

async function captureMount(
  context: Context,
  request: CaptureMountsRequest,
  mount: MountRecord,
  root: WritableDirectory,
  { counter, own }: { readonly counter: FileCounter; readonly own: readonly StackPreset[] },
): Promise<CapturedMount> {
  const { dev } = root.identity;
  const momentNs = BigInt(context.now().getTime()) * 1_000_000n;
  const passedOver = request.passOver?.(mount.name);
  const readCache = (): StatCache | undefined => context.statCaches.read(request.record.name, mount.name, dev);
  const cache = passedOver?.recorded.cache ?? (request.full ? undefined : readCache());
  const stacks = stacksInForce(context, { policy: request.policy, own }, mount, root);
  const look: Look = { context, request, mount, root, stacks, counter, momentNs, cache };
  const { walk, attributes } = (await graftingWalk(look, passedOver)) ?? (await plainWalk(look));
  const found = request.countAhead === true ? walk.rules.repositories : [];
  const ahead = await countCommitsAhead(context.repositories, root, found, cache?.notes.repositories ?? []);
  return toCapturedMount(look, walk, attributes, ahead);
}

/** One look at a mount. */
interface Look {
  readonly context: Context;
  readonly request: CaptureMountsRequest;
  readonly mount: MountRecord;
  readonly root: WritableDirectory;
  readonly stacks: StacksInForce;
  readonly counter: FileCounter;
  readonly momentNs: bigint;
  readonly cache: StatCache | undefined;
}

interface Walked {
  readonly captured: CapturedTree;
  readonly rules: MountRules;
  readonly recorder: ReturnType<Context['statCaches']['newRecorder']>;
  readonly grafts: Grafts | undefined;
}

interface WalkedMount {
  readonly walk: Walked;
  readonly attributes: MountAttributes;
}

async function plainWalk(look: Look): Promise<WalkedMount> {
  const walk = await walkMount(look, undefined, new Map());
  const defaults = usualAttributes(walk.captured.entries.values());
  return { walk, attributes: { defaults, lines: attributesOf(walk.captured, defaults) } };
}

/** Undefined when nothing is recorded, or it does not fit what was walked, so that all of it must be walked. */
async function graftingWalk(look: Look, passedOver: PassedOver | undefined): Promise<WalkedMount | undefined> {
  const { context, request, root, cache } = look;
  const recorded = request.graft ? await lookAtRecord(context, root, cache) : passedOver?.recorded;
  if (recorded === undefined || !isAlike(recorded.identity, root.identity)) return undefined;
  const { parts, repositories } = recorded;
  const grafts = new Grafts({
    parts,
    notes: recorded.cache.notes,
    changedRepositories: repositories.changed,
    writer: request.writer,
    only: passedOver?.subtrees ?? null,
  });
  const walk = await walkMount(look, grafts, repositories.unchanged);
  const { entries, grafted } = walk.captured;
  const defaults = usualAttributes(entries.values(), grafted.parts());
  const { notes } = grafts;
  if (!grafted.isEmpty && !isAlike(defaults, notes.defaults)) return undefined;
  if (isLinkGroupParted(entries.values(), grafted)) return undefined;
  addGraftedRepositories(walk, repositories);
  const lines = inOrderOfWalk([...attributesOf(walk.captured, defaults), ...grafts.attributesOf(grafted)]);
  return { walk, attributes: { defaults, lines } };
}

function addGraftedRepositories({ captured, rules }: Walked, { unchanged }: RecordedRepositories): void {
  for (const [path, repository] of unchanged)
    if (captured.grafted.subtreeAround(path) !== undefined) rules.addRepository(path, repository);
}

async function walkMount(
  look: Look,
  grafts: Grafts | undefined,
  knownRepositories: RecordedRepositories['unchanged'],
): Promise<Walked> {
  const { context, request, mount, root, counter, momentNs, cache } = look;
  const rules = rulesFor(look, knownRepositories);
  const recorder = context.statCaches.newRecorder(root.identity.dev);
  const captured = await capture({
    root,
    rules: rules.outermost(),
    writer: request.writer,
    cache,
    recorder,
    grafts,
    momentNs,
    scope: request.scope(mount.name),
    hasRoom: (bytes) => counter.bytes + bytes <= (request.policy.max_total_size ?? Infinity),
    interruption: context.interruption,
    read: request.read,
    onFile: (bytes) => {
      counter.add(bytes);
    },
  });
  return { captured, rules, recorder, grafts };
}

function toCapturedMount(look: Look, walk: Walked, attributes: MountAttributes, ahead: CommitsAhead): CapturedMount {
  const { mount, request, root, momentNs } = look;
  const { captured, rules, recorder } = walk;
  const repositories = inOrderOfWalk(
    rules.repositories.map((found) => {
      const view = viewOf(found, walk);
      return {
        path: found.path,
        found,
        view,
        state: { ...stateOf(found, walk, view), ...aheadOf(ahead.get(found.path)) },
      };
    }),
  );
  const own = repositories.find(({ path }) => path === rootPath);
  const isAsRecorded = captured.grafted.isWhole;
  return {
    // The folder that was looked at, which need not be the one that the instance began with.
    mount: { ...mount, ...root.identity },
    captured,
    attributes,
    kind: own?.found.repository.kind ?? 'plain',
    repository: own?.state ?? null,
    nested: repositories.filter((one) => one !== own).map(({ path, state }) => ({ path, ...state })),
    repositories: repositories.map(({ path, found, view, state }) => ({
      path,
      state,
      changes: (directory) => found.repository.changes(directory, view.present, view.untracked()),
    })),
    excludeFiles: inOrderOfWalk(rules.excludeFiles),
    rulesUnknown: inOrderOfWalk(rules.unknown.map((path) => ({ path }))).map(({ path }) => path),
    rules,
    stacks: look.stacks,
    momentNs,
    rememberStats: () => {
      // One that was limited to paths would take what is known of the others away.
      if (isAsRecorded || request.scope(mount.name) !== null) return;
      recorder.write(request.record.name, mount.name, {
        defaults: attributes.defaults,
        attributes: attributes.lines,
        leftOut: captured.leftOut,
        repositories: repositories.map(({ path, found, state }) => ({
          path,
          fingerprint: found.repository.fingerprint,
          dirty: state.dirty,
          ahead: ahead.get(path),
        })),
      });
    },
  };
}

function rulesFor(look: Look, knownRepositories: RecordedRepositories['unchanged']): MountRules {
  const { context, request, mount, root, stacks } = look;
  const { policy, forced, temporaryPrefix } = request;
  const decided = { policy, stacks: stacks.detector, forced: forced(mount.name), temporaryPrefix, knownRepositories };
  return mountRules(context, mount.path, root, decided);
}

/** The rules of a mount, with what of them the host says. */
export function mountRules(
  context: Context,
  mountPath: HostPath,
  root: Pick<WritableDirectory, 'identity'>,
  decided: Pick<MountRulesOptions, 'policy' | 'stacks' | 'forced' | 'temporaryPrefix' | 'knownRepositories'>,
): MountRules {
  return new MountRules({
    ...decided,
    mountPath,
    rootDev: root.identity.dev,
    mountPoints: context.host.mountPointsBelow(mountPath),
    dataDirectory: context.host.identity(context.host.dataDirectory),
    repositories: context.repositories,
    keyOf: (text) => context.hasher.writeBlob(Buffer.from(text, 'utf8')),
  });
}

function aheadOf(known: { readonly count: number | null } | undefined): Pick<RepositoryState, 'ahead'> {
  return known === undefined || known.count === null ? {} : { ahead: known.count };
}

/** The repository's state with `dirty` worked out from what the walk saw. */
function stateOf({ path, repository }: FoundRepository, walk: Walked, view: RepositoryView): RepositoryState {
  if (walk.captured.grafted.subtreeAround(path) !== undefined) {
    const recorded = walk.grafts?.notes.repositories.find((one) => one.path === path);
    return { ...repository.state, dirty: recorded?.dirty ?? null };
  }
  return { ...repository.state, dirty: repository.isDirty(view.present, view.hasUntracked()) };
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
