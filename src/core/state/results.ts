import type { LeftOutReason } from '../entry.js';
import type { EntryPath, HostPath } from '../entry-path.js';
import type { MountName } from '../ids.js';

/*
 * What is said of a session's state in a snapshot.
 */

/** Why a snapshot that should hold state holds none. */
export const stateMissingReasons = [
  /** The instance is no session of jackin's. */
  'no_session',
  /** jackin has nothing of the session any more. */
  'session_gone',
  /** How an agent's login is handed over is set to something that this program does not know. */
  'mode_unknown',
  /** How logins are handed over cannot be read. */
  'mode_unreadable',
  /** The agents' home is not there, leads elsewhere or cannot be opened. */
  'home_absent',
] as const;

export type StateMissing = (typeof stateMissingReasons)[number];

/** Where state lies in a snapshot, and how much it is. */
export interface StateSize {
  /** What it is called in the snapshot. */
  readonly name: MountName;
  /** Where it was read from. */
  readonly path: HostPath;
  readonly files: number;
  readonly sizeBytes: number;
}

/** What there is of one kind, of one agent. */
export interface StateGroup {
  readonly agent: string;
  /** `settings`, `instructions`, or the name of the folder: `plugins`, `skills` and so on. */
  readonly kind: string;
  readonly files: number;
  readonly sizeBytes: number;
}

/** `credential` by its name or place, `secret` by what was found in it. */
export type StateLeftOutReason = LeftOutReason | 'credential';

export interface StateLeftOut {
  readonly path: EntryPath;
  readonly reason: StateLeftOutReason;
}

/** What a snapshot has of a session's state, or why it has none although it should. */
export type StateInSnapshot =
  | {
      readonly stored: false;
      /** One of `stateMissingReasons`, or a word of a newer version. */
      readonly reason: string;
    }
  | (StateSize & {
      readonly stored: true;
      readonly contents: readonly StateGroup[];
      readonly leftOut: readonly StateLeftOut[];
    });

/** The state of a snapshot that was exported. */
export interface ExportedState extends StateSize {
  /** Whether it was asked for, and is in what was written. */
  readonly included: boolean;
}
