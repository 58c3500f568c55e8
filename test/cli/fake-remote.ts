import type { ObjectId, Seq } from '../../src/core/ids.js';
import type { FetchResult, PushResult } from '../../src/core/remote/results.js';
import type { RemoteSnapshot } from '../../src/core/remote/report.js';
import type { JackinSnap } from '../../src/core/requests.js';
import { instance } from './fake-names.js';

/** What a fake library says of remotes. */

const at = (seq: number): RemoteSnapshot => ({
  instance,
  seq: seq as Seq,
  ref: `refs/jackin/${instance}/${String(seq)}`,
  commit: 'ab'.repeat(20) as ObjectId,
});

export const pushed: PushResult = {
  remote: '/srv/\x1b[2Jr.git',
  dryRun: false,
  pushed: [at(3), at(4)],
  present: [at(1)],
  leftOut: [{ ...at(2), reason: 'state' }],
  refused: [],
  messages: [],
};

export const fetched: FetchResult = {
  remote: 'host:r.git',
  dryRun: false,
  fetched: [at(3)],
  present: [],
  refused: [{ ...at(4), reason: 'no_snapshot', detail: 'its commit\x1b is odd' }],
  messages: ['The remote has 2 refs with other names.'],
};

type Note = <Result>(method: string, request: unknown, result: Result) => Promise<Result>;

export function remoteAnswers(note: Note): Pick<JackinSnap, 'push' | 'fetch'> {
  return {
    push: (request) => note('push', request, pushed),
    fetch: (request) => note('fetch', request, { ...fetched, refused: [] }),
  };
}
