import type { RemoteSnapshot } from './report.js';

/*
 * What push and fetch are asked, and what they answer.
 */

interface RemoteRequest {
  /** A URL, `host:path`, or the path of a repository. */
  readonly remote: string;
  /** Every instance; default: the chosen one. */
  readonly all?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** A credential helper of git's: its name, or the path of a program. Default: none is started. */
  readonly credentialHelper?: string | undefined;
  /** Whether git and ssh may ask on the process's terminal. */
  readonly mayAsk?: boolean | undefined;
}

export interface PushRequest extends RemoteRequest {
  /** Only these; default: all of the instance. */
  readonly snapshots?: readonly string[] | undefined;
  /** Also those that hold state of a session's agents. */
  readonly state?: boolean | undefined;
  /** Also those that were made with secrets. */
  readonly includeSecrets?: boolean | undefined;
}

export interface FetchRequest extends RemoteRequest {
  /** How much may come, in bytes. Default: 10 GiB. */
  readonly maxBytes?: number | undefined;
}

/** Why a snapshot was not pushed although nothing is wrong with the remote. */
export const leftOutOfPush = ['state', 'secrets', 'unknown_format', 'damaged'] as const;
export type LeftOutOfPush = (typeof leftOutOfPush)[number];

/**
 * `other_snapshot`: both sides have the number, with different commits. `other_history`: so it is with another number of
 * the same instance. `rejected`: the remote did not take it. `no_snapshot`: what came is none that this program reads.
 * `incomplete`: something of it did not come, or is lacking of its protected commits. `damaged_here`: the ref here cannot
 * be read.
 */
export const refusals = [
  'other_snapshot',
  'other_history',
  'rejected',
  'no_snapshot',
  'unknown_format',
  'incomplete',
  'damaged_here',
] as const;
export type RemoteRefusal = (typeof refusals)[number];

export interface RefusedSnapshot extends RemoteSnapshot {
  readonly reason: RemoteRefusal;
  /** More of it in words; empty where the reason says all. */
  readonly detail: string;
}

interface RemoteResult {
  /** The remote without passwords. */
  readonly remote: string;
  readonly dryRun: boolean;
  /** The same on both sides already. */
  readonly present: readonly RemoteSnapshot[];
  readonly refused: readonly RefusedSnapshot[];
  readonly messages: readonly string[];
}

export interface PushResult extends RemoteResult {
  readonly pushed: readonly RemoteSnapshot[];
  readonly leftOut: readonly (RemoteSnapshot & { readonly reason: LeftOutOfPush })[];
}

export interface FetchResult extends RemoteResult {
  readonly fetched: readonly RemoteSnapshot[];
}
