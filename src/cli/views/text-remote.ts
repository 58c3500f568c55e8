import type { FetchResult, LeftOutOfPush, PushResult, RemoteRefusal, RemoteSnapshot } from '../../index.js';
import { counted, shown, someOf, textOf } from './format.js';

export function pushText({ remote, dryRun, pushed, present, leftOut, refused }: PushResult): string {
  const verb = dryRun ? 'Would push' : 'Pushed';
  return textOf([
    ...moved(pushed, (what) => `${verb} ${what} to ${shown(remote)}.`),
    ...(pushed.length === 0 ? [`Nothing ${dryRun ? 'to push' : 'was pushed'} to ${shown(remote)}.`] : []),
    ...alreadyThere(present, 'there'),
    ...leftOut.map((snapshot) => `Left out: ${nameOf(snapshot)}: ${whyLeftOut[snapshot.reason]}.`),
    ...refused.map(refusalText),
  ]);
}

export function fetchText({ remote, dryRun, fetched, present, refused }: FetchResult): string {
  const verb = dryRun ? 'Would fetch' : 'Fetched';
  return textOf([
    ...moved(fetched, (what) => `${verb} ${what} from ${shown(remote)}.`),
    ...(fetched.length === 0 ? [`Nothing ${dryRun ? 'to fetch' : 'was fetched'} from ${shown(remote)}.`] : []),
    ...alreadyThere(present, 'here'),
    ...refused.map(refusalText),
  ]);
}

const whyLeftOut: Readonly<Record<LeftOutOfPush, string>> = {
  state: "it holds state of a session's agents; --state pushes it",
  secrets: 'it was saved with secrets; --include-secrets pushes it',
  unknown_format: 'a newer version wrote it',
  damaged: 'it is damaged; see "verify"',
};

const whyRefused: Readonly<Record<RemoteRefusal, string>> = {
  other_snapshot: 'the other side has another snapshot under this number',
  other_history: 'the other side has another instance of this name',
  rejected: 'the remote did not take it',
  no_snapshot: 'what came is no snapshot',
  unknown_format: 'a newer version wrote it',
  incomplete: 'not all of it came',
  damaged_here: 'the ref here cannot be read; see "doctor --fix"',
};

function refusalText({ reason, detail, ...snapshot }: PushResult['refused'][number]): string {
  return `Refused: ${nameOf(snapshot)}: ${whyRefused[reason]}${detail === '' ? '' : `: ${shown(detail)}`}.`;
}

const namedAtMost = 20;

/** A line for each instance. */
function moved(snapshots: readonly RemoteSnapshot[], sentence: (what: string) => string): string[] {
  const instances = [...new Set(snapshots.map(({ instance }) => instance))];
  return instances.map((instance) => {
    const numbers = snapshots.filter((snapshot) => snapshot.instance === instance).map(({ seq }) => String(seq));
    const noun = numbers.length === 1 ? 'snapshot' : 'snapshots';
    return sentence(`${noun} ${someOf(numbers, namedAtMost)} of ${instance}`);
  });
}

function alreadyThere(present: readonly RemoteSnapshot[], where: string): string[] {
  return present.length === 0 ? [] : [`Already ${where}: ${counted(present.length, 'snapshot')}.`];
}

function nameOf({ instance, seq }: RemoteSnapshot): string {
  return `${instance}/${String(seq)}`;
}
