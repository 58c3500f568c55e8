import type { CheckResult, DoctorResult, RemovalResult, SnapshotPointer } from '../../index.js';
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
