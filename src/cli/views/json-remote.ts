import type { FetchResult, PushResult, RemoteSnapshot } from '../../index.js';
import type { FetchData, PushData, RemoteSnapshotData } from '../../schemas.js';

/*
 * The documents of push and fetch.
 */

export function pushData({ pushed, leftOut, ...result }: PushResult): PushData {
  return {
    ...remoteData(result),
    pushed: pushed.map(snapshotData),
    left_out: leftOut.map(({ reason, ...snapshot }) => ({ ...snapshotData(snapshot), reason })),
  };
}

export function fetchData({ fetched, ...result }: FetchResult): FetchData {
  return { ...remoteData(result), fetched: fetched.map(snapshotData) };
}

function remoteData({
  remote,
  dryRun,
  present,
  refused,
}: Pick<FetchResult, 'remote' | 'dryRun' | 'present' | 'refused'>): Omit<FetchData, 'fetched'> {
  return {
    remote,
    dry_run: dryRun,
    present: present.map(snapshotData),
    refused: refused.map(({ reason, detail, ...snapshot }) => ({ ...snapshotData(snapshot), reason, detail })),
  };
}

function snapshotData({ instance, seq, ref, commit }: RemoteSnapshot): RemoteSnapshotData {
  return { instance, seq, ref, commit };
}
