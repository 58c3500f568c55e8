import type { CheckResult, DoctorResult, DrillResult, RemovalResult, SnapshotPointer } from '../../index.js';
import { counted, shown, sizeText, someOf, textOf } from './format.js';
import type { TextStyle } from './style.js';

export function verifyText({ ok, snapshotsChecked, damaged, problems }: CheckResult): string {
  if (ok) return textOf([`${counted(snapshotsChecked, 'snapshot')} checked: all whole and restorable.`]);
  return textOf([
    `${counted(snapshotsChecked, 'snapshot')} checked: ${damaged.length} damaged.`,
    ...damaged.map(({ snapshot, problem }) => `  ${snapshot.instance}/${snapshot.seq}: ${shown(problem)}`),
    ...problems.map((problem) => `  ${shown(problem)}`),
  ]);
}

const differencesShown = 40;

export function drillText({ snapshot, ok, files, bytes, differences }: DrillResult): string {
  const name = `Snapshot ${snapshot.seq} of ${snapshot.instance}`;
  if (ok) return textOf([`${name}: ${counted(files, 'file')} (${sizeText(bytes)}) restored and as they were saved.`]);
  return textOf([
    `${name}: ${counted(differences.length, 'path')} not as saved.`,
    ...differences
      .slice(0, differencesShown)
      .map(({ mount, path, reason }) => `  ${mount}:${shown(path)}  ${shown(reason)}`),
    ...(differences.length > differencesShown ? ['  and more; --json has them all'] : []),
  ]);
}

export function doctorText({ findings }: DoctorResult, { paint }: TextStyle): string {
  const colors = { ok: paint.green, fixed: paint.green, note: paint.yellow, problem: paint.red };
  return textOf(
    findings.flatMap(({ level, what, hint }) => [
      `${colors[level](level.padEnd(7))} ${shown(what)}`,
      ...(hint === null ? [] : [`        ${shown(hint)}`]),
    ]),
  );
}

/** What was removed, or would be. */
export function removalText(
  { instance, dryRun, removed, kept, freedBytes }: RemovalResult,
  { tellKept }: { readonly tellKept: boolean },
): string {
  const verb = dryRun ? 'Would remove' : 'Removed';
  const freed = dryRun ? '' : `; ${sizeText(freedBytes)} freed`;
  if (removed.length === 0) return textOf([`Nothing to remove in ${instance ?? 'the store'}${freed}.`]);
  const stay = !tellKept || kept.length === 0 ? '' : `; ${counted(kept.length, 'snapshot')} kept`;
  return textOf([`${verb} ${numbersText(removed)} of ${instance ?? 'the store'}${stay}${freed}.`]);
}

const numbersShown = 20;

export function numbersText(snapshots: readonly SnapshotPointer[]): string {
  const noun = snapshots.length === 1 ? 'snapshot' : 'snapshots';
  return `${noun} ${someOf(
    snapshots.map(({ seq }) => String(seq)),
    numbersShown,
  )}`;
}
