import { type InstanceName, type ObjectId, type Seq, parseInstanceName, toSeq } from '../ids.js';
import { isSnapError } from '../../errors.js';

/*
 * What git says of the refs of another repository.
 */

/** A ref of another repository. Whatever its name says, nothing of it was looked at. */
export interface AdvertisedRef {
  readonly name: string;
  readonly oid: ObjectId;
}

/** One of a snapshot, by its name. */
export interface RemoteSnapshot {
  readonly instance: InstanceName;
  readonly seq: Seq;
  readonly ref: string;
  readonly commit: ObjectId;
}

/** A snapshot of ours in the same terms. */
export function toRemote({ instance, seq, ref, commit }: RemoteSnapshot): RemoteSnapshot {
  return { instance, seq, ref, commit };
}

/** The output of `git ls-remote`; lines of another form are left out. */
export function parseAdvertised(output: string): AdvertisedRef[] {
  return output.split('\n').flatMap((line) => {
    const [, oid, name] = /^([0-9a-f]{40})\t(refs\/[^\0\t]+)$/.exec(line) ?? [];
    return oid === undefined || name === undefined ? [] : [{ name, oid: oid as ObjectId }];
  });
}

/** Undefined for a name that no snapshot has. */
export function snapshotOfRef({ name, oid }: AdvertisedRef): RemoteSnapshot | undefined {
  const [, instance, number] = /^refs\/jackin\/([^/]+)\/([^/]+)$/.exec(name) ?? [];
  const seq = toSeq(number ?? '');
  const parsed = instanceOf(instance ?? '');
  if (seq === undefined || parsed === undefined || !Number.isSafeInteger(seq)) return undefined;
  return { instance: parsed, seq, ref: name, commit: oid };
}

function instanceOf(name: string): InstanceName | undefined {
  try {
    return parseInstanceName(name);
  } catch (error) {
    if (isSnapError(error, 'USAGE')) return undefined;
    throw error;
  }
}

/** How far a push has come. */
export interface PushProgress {
  readonly objects: number;
  readonly totalObjects: number;
  readonly bytes: number;
}

/** A line of what git says while it sends; undefined for any other. */
export function parsePushProgress(line: string): PushProgress | undefined {
  const found = /^Writing objects: +[0-9]+% \(([0-9]+)\/([0-9]+)\)(?:, ([0-9.]+) (bytes|[KMG]iB))?/.exec(line);
  if (found === null) return undefined;
  const [, objects, totalObjects, size = '0', unit = 'bytes'] = found;
  const bytes = Math.round(Number(size) * 1024 ** ['bytes', 'KiB', 'MiB', 'GiB'].indexOf(unit));
  return { objects: Number(objects), totalObjects: Number(totalObjects), bytes };
}

/** What became of one ref that was pushed. */
export interface PushedRef {
  readonly outcome: 'created' | 'present' | 'rejected';
  /** git's words, the other side's included. */
  readonly said: string;
}

/** The output of `git push --porcelain`: by the name of the ref at the remote. */
export function parsePushReport(output: string): Map<string, PushedRef> {
  const report = new Map<string, PushedRef>();
  for (const line of output.split('\n')) {
    const [, flag = '', name, said = ''] = /^([ +\-*!=])\t[^\t:]*:(refs\/[^\t]+)\t(.*)$/.exec(line) ?? [];
    if (name !== undefined) report.set(name, { outcome: outcomes[flag] ?? 'rejected', said });
  }
  return report;
}

/** Anything but a new ref is none of what was asked for. */
const outcomes: Readonly<Record<string, PushedRef['outcome']>> = { '*': 'created', '=': 'present' };
