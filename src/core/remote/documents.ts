import type { LeftOutOfPush, RemoteRefusal } from './results.js';

/*
 * The documents of `push` and `fetch`.
 */

export interface RemoteSnapshotData {
  readonly instance: string;
  readonly seq: number;
  readonly ref: string;
  readonly commit: string;
}

interface RemoteData {
  readonly remote: string;
  readonly dry_run: boolean;
  readonly present: readonly RemoteSnapshotData[];
  readonly refused: readonly (RemoteSnapshotData & { readonly reason: RemoteRefusal; readonly detail: string })[];
}

export interface PushData extends RemoteData {
  readonly pushed: readonly RemoteSnapshotData[];
  readonly left_out: readonly (RemoteSnapshotData & { readonly reason: LeftOutOfPush })[];
}

export interface FetchData extends RemoteData {
  readonly fetched: readonly RemoteSnapshotData[];
}
