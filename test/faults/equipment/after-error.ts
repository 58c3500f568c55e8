import type { ProcessRun } from '../../support/run-process.js';
import {
  aftermathProblems,
  documentOf,
  momentProblems,
  nextSaveProblems,
  outcomeProblems,
  unnamedProblems,
} from './judge.js';
import type { Stage } from './stage.js';

/** After a command that was not killed: its outcome fits, nothing is lost or half-done, and it works from here on. */
export async function afterErrorProblems(
  stage: Stage,
  run: ProcessRun,
  mountBefore: string,
  forwards: boolean,
): Promise<string[]> {
  const document = documentOf(run);
  const partial = document?.ok === true && run.code === 6;
  const published = partial ? (document.data.snapshot as { readonly ref: string } | undefined)?.ref : undefined;
  const found = [...outcomeProblems(stage, run), ...momentProblems(stage, mountBefore, published)];
  if (partial && stage.scenario.kind === 'restore')
    return [...found, ...unnamedProblems(stage, run), ...(await nextSaveProblems(stage))];
  return [...found, ...(await aftermathProblems(stage, forwards ? '--continue' : '--abort'))];
}
