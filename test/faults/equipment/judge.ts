import type { SnapDocument } from '../../support/cli.js';
import type { ProcessRun } from '../../support/run-process.js';
import { told } from './area.js';
import type { Moment } from './scenarios.js';
import type { Stage } from './stage.js';
import { differingPaths, leftovers, refsIn, seqOf, storeProblems } from './store-problems.js';

/** What a command says of itself; undefined where it was killed or says nothing that can be read. */
export function documentOf(run: ProcessRun): SnapDocument | undefined {
  try {
    return JSON.parse(run.stdout) as SnapDocument;
  } catch {
    return undefined;
  }
}

/** Does the outcome that a command reports fit what is there? For one that was not killed. */
export function outcomeProblems(stage: Stage, run: ProcessRun): string[] {
  if (run.timedOut) return ['it did not end within a minute'];
  const document = documentOf(run);
  if (document === undefined) return [`no document: exit ${run.code ?? run.signal} ${told(run)}`];
  if (document.ok) return successProblems(stage, run, document);
  return failureProblems(run, document.error?.code);
}

function failureProblems(run: ProcessRun, code = 'no code'): string[] {
  const known = run.code !== null && run.code >= 1 && run.code <= 9;
  return [
    ...(known ? [] : [`exit ${run.code ?? run.signal} with ${code}`]),
    ...(code === 'INTERNAL' ? [`an error of the system is called a bug: ${told(run)}`] : []),
  ];
}

function successProblems(stage: Stage, run: ProcessRun, document: SnapDocument): string[] {
  const { scenario } = stage;
  if (run.code !== 0 && run.code !== 6) return [`ok, and exit ${run.code ?? run.signal}`];
  if (scenario.kind === 'save') return savedProblems(stage, document, run.code === 6);
  if (scenario.kind === 'restore') return run.code === 6 ? [] : stage.mountProblems(scenario.ends);
  const left = [...refsIn(stage.area.dataDir).keys()].map(seqOf);
  return scenario.mayGo.filter((seq) => left.includes(seq)).map((seq) => `${seq} is removed, it says, and is there`);
}

/** The snapshot that a save reports holds the mount as it is, but for what it names. */
export function savedProblems(stage: Stage, document: SnapDocument, partly: boolean): string[] {
  const { ref, commit } = document.data.snapshot as { readonly ref: string; readonly commit: string };
  const refs = refsIn(stage.area.dataDir);
  if (refs.get(ref) !== commit) return [`${ref} was reported as ${commit} and is ${refs.get(ref) ?? 'not there'}`];
  const named = document.data.observed_only as readonly { readonly path: string }[];
  const isNamed = (path: string): boolean =>
    partly &&
    named.some((observed) => path === observed.path || path.startsWith(`${observed.path.replace(/\/$/, '')}/`));
  const differing = differingPaths(stage.area, commit).filter((path) => !isNamed(path));
  return differing.length === 0 ? [] : [`${ref} is not the mount: ${differing.slice(0, 5).join(', ')}`];
}

/**
 * At any moment, also right after a kill: nothing that was reported is lost, nothing half-done is a snapshot.
 * @param partial the ref of a snapshot that was reported to lack something
 */
export function momentProblems(stage: Stage, mountBefore: string, partial?: string): string[] {
  const { area, reported, scenario } = stage;
  const added = [...refsIn(area.dataDir)].filter(([ref]) => !reported.has(ref));
  const newest = Math.max(0, ...[...reported.keys()].map(seqOf));
  return [
    ...storeProblems(area.dataDir, reported, stage.mayGo),
    ...area.canaryProblems(),
    ...(scenario.kind !== 'restore' && stage.look() !== mountBefore ? ['the mount was touched'] : []),
    ...added.filter(([ref]) => seqOf(ref) <= newest).map(([ref]) => `${ref} is a number that was used`),
    ...(scenario.kind === 'restore'
      ? []
      : added.flatMap(([ref, commit]) => (ref === partial ? [] : halfDone(stage, ref, commit)))),
  ];
}

function halfDone(stage: Stage, ref: string, commit: string): string[] {
  const differing = differingPaths(stage.area, commit);
  return differing.length === 0 ? [] : [`${ref} is half a snapshot: ${differing.slice(0, 5).join(', ')}`];
}

export type Way = '--continue' | '--abort';

/**
 * Takes what is pending to one end; then all is as it should be, and the next save works and leaves nothing behind.
 * @param wasMended the same way was gone before, and may have come to its end
 */
export async function aftermathProblems(stage: Stage, way: Way, wasMended = false): Promise<string[]> {
  const { area, scenario } = stage;
  const found = scenario.kind === 'restore' ? await recoveryProblems(stage, way, wasMended) : [];
  if (scenario.kind === 'removal') {
    const again = await area.run(scenario.args);
    if (again.code !== 0 && !(scenario.name === 'delete' && again.code === 3))
      found.push(`again: exit ${again.code ?? again.signal} ${told(again)}`);
  }
  return [...found, ...(await nextSaveProblems(stage))];
}

async function recoveryProblems(stage: Stage, way: Way, wasMended: boolean): Promise<string[]> {
  const { area, scenario } = stage;
  const end = endOf(stage, way);
  const run = await area.run(['recover', way, '--yes', ...(stage.isElsewhere ? ['--force'] : [])]);
  if (run.code === 3) {
    const isHalfway = scenario.halfway !== undefined;
    return stage.mountProblems(scenario.ends, ...(isHalfway ? [] : [scenario.starts]), ...(wasMended ? [end] : []));
  }
  if (run.code === 6 && way === '--continue') return unnamedProblems(stage, run);
  if (run.code !== 0) return [`recover ${way}: exit ${run.code ?? run.signal} ${told(run)}`];
  return stage.mountProblems(end).map((problem) => `after recover ${way} ${problem}`);
}

/** What a recovery leads to. */
function endOf({ scenario }: Stage, way: Way): Moment {
  const [forwards, backwards] =
    scenario.halfway === undefined ? [scenario.ends, scenario.starts] : (['then', 'now'] as const);
  return way === '--continue' ? forwards : backwards;
}

/** A restore that was finished but for some paths names all of them, or the folder that they would be in. */
export function unnamedProblems(stage: Stage, run: ProcessRun): string[] {
  const moment = stage.scenario.halfway === undefined ? stage.scenario.ends : 'then';
  const failed = (documentOf(run)?.data.failed ?? []) as readonly { readonly path: string }[];
  const isNamed = (path: string): boolean =>
    run.stdout.includes(JSON.stringify(path).slice(1, -1)) || failed.some((named) => path.startsWith(`${named.path}/`));
  const unnamed = stage.differences(moment).filter(({ path }) => !isNamed(path));
  return unnamed.map(({ line }) => `not restored, and not named: ${line}`);
}

export async function nextSaveProblems(stage: Stage): Promise<string[]> {
  const { area, reported } = stage;
  stage.saves += 1;
  const before = new Map([...reported, ...refsIn(area.dataDir)]);
  const run = await area.run(['save']);
  const document = documentOf(run);
  if (run.code !== 0 || document?.ok !== true) return [`the next save: exit ${run.code ?? run.signal} ${told(run)}`];
  const { seq } = document.data.snapshot as { readonly seq: number };
  return [
    ...(seq > Math.max(0, ...[...before.keys()].map(seqOf)) ? [] : [`the next save used number ${seq} again`]),
    ...savedProblems(stage, document, false),
    ...storeProblems(area.dataDir, before, stage.mayGo),
    ...leftovers(area).map((problem) => `after the next save ${problem}`),
    ...area.canaryProblems(),
  ];
}
