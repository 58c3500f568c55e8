import type {
  CheckResult,
  DamagedPath,
  DamagedSnapshot,
  DoctorResult,
  DrillResult,
  RemovalResult,
  SnapshotPointer,
} from '../../index.js';
import { displayPath } from '../library.js';
import { counted, grouped, shown, sizeText, someOf, textOf } from './format.js';
import { keptWords } from './kept-words.js';
import type { TextStyle } from './style.js';

export function verifyText({ ok, snapshotsChecked, damaged, problems, content }: CheckResult): string {
  const checked = `${counted(snapshotsChecked, 'snapshot')} checked`;
  const hashed = hashedText(content);
  if (ok) return textOf([`${checked}: all whole and restorable.${hashed}`]);
  return textOf([
    `${checked}: ${damaged.length} damaged.${hashed}`,
    ...damaged.flatMap(damagedLines),
    ...problems.map((problem) => `  ${shown(problem)}`),
  ]);
}

function hashedText(content: CheckResult['content']): string {
  if (content === null) return '';
  const { objectsChecked, objectsTotal } = content;
  if (objectsChecked === objectsTotal) return ` All content hashed: ${counted(objectsTotal, 'object')}.`;
  return ` Content hashed: ${grouped(objectsChecked)} of ${counted(objectsTotal, 'object')}.`;
}

function damagedLines({ snapshot, problem, paths, pathsTotal }: DamagedSnapshot): string[] {
  const more = pathsTotal - paths.length;
  return [
    `  ${snapshot.instance}/${snapshot.seq}: ${shown(problem)}`,
    ...paths.map((path) => `    ${damagedPathText(path)}`),
    ...(more > 0 ? [`    and ${grouped(more)} more`] : []),
  ];
}

function damagedPathText({ mount, path, kind }: DamagedPath): string {
  const names = [...(mount === null ? [] : [mount]), ...(path === '' ? [] : [displayPath(path)])];
  if (names.length === 0) return 'everything';
  return kind === 'directory' ? `${names.join('/')}/ and all below it` : names.join('/');
}

const differencesShown = 40;

export function drillText({ snapshot, ok, files, bytes, differences }: DrillResult): string {
  const name = `Snapshot ${snapshot.seq} of ${snapshot.instance}`;
  if (ok) return textOf([`${name}: ${counted(files, 'file')} (${sizeText(bytes)}) restored and as they were saved.`]);
  return textOf([
    `${name}: ${counted(differences.length, 'path')} not as saved.`,
    ...differences
      .slice(0, differencesShown)
      .map(({ mount, path, reason }) => `  ${mount}:${shown(path)}  ${keptWords(reason)}`),
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
