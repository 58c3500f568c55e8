/** What a call was wrong about. The command line has a next step for each. */
export type UsageSubject =
  | 'archive'
  | 'data directory'
  | 'destination'
  | 'git option'
  | 'instance name'
  | 'mount name'
  | 'part of the content'
  | 'path'
  | 'preset'
  | 'process'
  | 'setting'
  | 'snapshots';

/** The data that each error code carries. The command line maps every code to an exit code and a next step. */
export interface SnapErrorData {
  readonly USAGE: { readonly what: UsageSubject };
  readonly CONFIGURATION_INVALID: { readonly file: string; readonly problem: string };
  readonly JACKIN_VERSION_UNKNOWN: { readonly file: string; readonly got: string; readonly expected: string };
  /** jackin has no such instance, or no folder of it is known. */
  readonly JACKIN_NOT_FOUND: { readonly selector: string };
  /** `snapshot=off`: only saves by hand are made. */
  readonly SNAPSHOTS_OFF: { readonly instance: string };
  readonly SNAPSHOT_NOT_FOUND: { readonly selector: string; readonly instance: string };
  readonly SNAPSHOT_AMBIGUOUS: { readonly selector: string };
  readonly SNAPSHOT_PINNED: { readonly snapshot: string };
  readonly INSTANCE_NOT_FOUND: { readonly instance: string };
  readonly INSTANCE_AMBIGUOUS: { readonly candidates: readonly string[] };
  /** `snapshot`: the one to look into, as `<instance>/<seq>`. */
  readonly PATH_NOT_FOUND: { readonly path: string; readonly where: string; readonly snapshot?: string };
  readonly NOTHING_TO_UNDO: { readonly instance: string };
  readonly NOTHING_PENDING: { readonly instance: string };
  readonly INSTANCE_ACTIVE: { readonly instance: string; readonly owner: string };
  readonly INSTANCE_CLOSED: { readonly instance: string };
  /** `unnamed`: there are snapshots of other folders, and none was named. */
  readonly MOUNTS_DIFFER: { readonly instance: string; readonly unnamed?: true };
  /** `named`: the folder was named for a save; else it is the one that the instance has. */
  readonly MOUNT_GONE: {
    readonly mount: string;
    readonly path: string;
    readonly named?: true;
    readonly instance?: string;
  };
  readonly MOUNT_CHANGED: { readonly what: string };
  readonly MOUNT_REPLACED: { readonly mount: string; readonly path: string };
  readonly MOUNT_UNSAFE: { readonly path: string; readonly why: string };
  readonly RESTORE_PENDING: { readonly instance: string };
  /** The snapshot holds nothing of the repositories but files. */
  readonly GIT_STATE_ABSENT: { readonly snapshot: string };
  readonly GIT_STATE_REFUSED: { readonly path: string; readonly why: string };
  /** The snapshot holds nothing of what a session's agents keep. */
  readonly STATE_ABSENT: { readonly snapshot: string };
  /** `path` is jackin's own, and never written. */
  readonly JACKIN_OWNED: { readonly path: string; readonly snapshot: string };
  readonly LIMIT_EXCEEDED: { readonly path: string };
  readonly DESTINATION_EXISTS: { readonly path: string };
  /** `command`: the words that go on without being asked, where there is no dry run to look at first. */
  readonly CONFIRMATION_NEEDED: { readonly what: string; readonly command?: string };
  /** What is dirty or unpushed must be named before it is given up: `names` as they are to be typed. */
  readonly ACKNOWLEDGEMENT_NEEDED: { readonly instance: string; readonly names: readonly string[] };
  readonly LARGE_DELETION: { readonly mount: string; readonly deleted: number; readonly held: number };
  readonly DECLINED: { readonly what: 'restore' | 'recover' | 'remove' | 'discard' };
  readonly INCOMPLETE_REFUSED: { readonly paths: readonly string[] };
  readonly SNAPSHOT_DAMAGED: { readonly snapshot: string };
  readonly FORMAT_UNKNOWN: { readonly snapshot: string; readonly format: string };
  readonly STORE_DAMAGED: { readonly problem: string };
  readonly JOURNAL_DAMAGED: { readonly file: string };
  readonly BUSY: { readonly lock: string; readonly holder: string };
  readonly GIT_MISSING: { readonly program: string };
  readonly GIT_TOO_OLD: { readonly found: string; readonly needed: string };
  readonly GIT_FAILED: { readonly command: string; readonly exitCode: number };
  readonly NO_SPACE: { readonly path: string; readonly pending?: string };
  /**
   * A disk error, too many open files and the like: `problem` is the system's code for it. `left`: temporary files of the
   * pending restore that could not be removed.
   */
  readonly SYSTEM_FAILED: { readonly problem: string; readonly pending?: string; readonly left?: readonly string[] };
  readonly DATA_DIR_OPEN: { readonly path: string; readonly mode: string };
  readonly DATA_DIR_DENIED: { readonly path: string };
  readonly REF_EXISTS: { readonly ref: string };
  /** `pending`: the instance whose restore waits to be recovered. */
  readonly INTERRUPTED: { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'; readonly pending?: string };
  readonly NOT_A_REPOSITORY: { readonly path: string };
  readonly REPOSITORY_UNSUITABLE: { readonly path: string; readonly why: string };
  readonly WORKTREE_NOT_FOUND: { readonly name: string };
  readonly WORKTREE_EXISTS: { readonly name: string };
  readonly WORKTREE_LOCKED: { readonly name: string; readonly path: string };
  /** Removing it would lose what no snapshot and no commit has. */
  readonly WORKTREE_HOLDS_MORE: { readonly name: string; readonly reasons: readonly string[] };
  /** `remote`: without passwords. */
  readonly REMOTE_REFUSED: { readonly remote: string; readonly why: string };
  /** `said`: in git's words, which may be the other side's. */
  readonly REMOTE_FAILED: { readonly remote: string; readonly said: string };
  readonly REMOTE_TOO_LARGE: {
    readonly remote: string;
    /** Bytes; of `refs` how many. */
    readonly limit: number;
    readonly what: 'transfer' | 'ref_list' | 'refs';
  };
  readonly COMMAND_NOT_STARTED: { readonly command: string; readonly exitCode: 126 | 127 };
  readonly INTERNAL: { readonly what: string };
}

export type SnapErrorCode = keyof SnapErrorData;

/** Every failure that the library reports. `code` and `data` are API, the wording is not. */
export class SnapError<Code extends SnapErrorCode = SnapErrorCode> extends Error {
  readonly code: Code;
  readonly data: SnapErrorData[Code];

  constructor(code: Code, message: string, data: SnapErrorData[Code], options?: ErrorOptions) {
    super(message, options);
    this.name = 'SnapError';
    this.code = code;
    this.data = data;
  }
}

/** True for a failure that the library or the system tells of in words: neither a bug nor the wish to end. */
export function isTold(error: unknown): error is Error {
  if (isSnapError(error)) return error.code !== 'INTERRUPTED';
  const code = systemCode(error);
  return code !== undefined && !isNodesOwn(code);
}

/** Node's own: for what it was asked in the wrong way. */
export function isNodesOwn(code: string): boolean {
  return code.startsWith('ERR_');
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A full or failing disk is no bug, wherever it shows. Undefined for what is another failure. */
export function knownFailure(error: unknown): SnapError | undefined {
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new SnapError('NO_SPACE', 'There is no space left.', { path: '' }, { cause: error });
  const problem = systemFault(error);
  if (problem === undefined) return undefined;
  return new SnapError('SYSTEM_FAILED', `The system failed: ${wordsOf(error)}.`, { problem }, { cause: error });
}

/** The failure of what came after something was done, with the words that say so. Bugs stay what they are. */
export function afterDone(error: unknown, done: string): unknown {
  const known = isSnapError(error) ? error : knownFailure(error);
  return known === undefined ? error : reworded(known, `${done} Then: ${known.message}`);
}

/** The same failure in other words. */
export function reworded<Code extends SnapErrorCode>(error: SnapError<Code>, message: string): SnapError<Code> {
  return new SnapError(error.code, message, error.data, { cause: error });
}

/** True for a SnapError, with `code` narrowed when one is given. */
export function isSnapError<Code extends SnapErrorCode>(error: unknown, code?: Code): error is SnapError<Code> {
  return error instanceof SnapError && (code === undefined || error.code === code);
}

/** The `code` of a system error (`ENOENT` and the like), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (typeof error.code !== 'string') return undefined;
  return 'errno' in error ? (unnamed.get(error.errno) ?? error.code) : error.code;
}

/** Node has no names for these, and more than one way to say so. */
const unnamed: ReadonlyMap<unknown, string> = new Map([
  [-116, 'ESTALE'],
  [-117, 'EUCLEAN'],
  [-122, 'EDQUOT'],
]);

/** The `code` of a system error that no program can help: not of one that asking for the wrong thing gives. */
export function systemFault(error: unknown): string | undefined {
  const code = systemCode(error);
  return code !== undefined && faults.has(code) ? code : undefined;
}

const faults: ReadonlySet<string> = new Set([
  ...['EIO', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EACCES', 'EPERM', 'ENODEV', 'ENXIO'],
  ...['ESTALE', 'EUCLEAN', 'EREMOTEIO', 'ETIMEDOUT', 'ENOLCK'],
]);
