import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';

export const whose = 'an instance, its container, its instance id or its role key; default: that of this folder';

interface AssessOptions {
  readonly files?: boolean;
  readonly exitCode?: boolean;
}

export function define(command: Command, session: Session): void {
  command
    .argument('[instance]', whose)
    .option('--files', 'list what is dirty, with letters as in git status')
    .option('--exit-code', 'exit with 1 when something is dirty or unpushed')
    .action((instance: string | undefined, options: AssessOptions) =>
      session.run(command, (context) => assessOutcome(context, instance, options)),
    );
  addNotes(command, {
    about:
      'What each folder of an instance has that would be lost with it: clean, dirty or unpushed. A folder that is no ' +
      'repository is compared with its last snapshot: saved or dirty. What cannot be observed counts as unpushed, and why ' +
      'is said. Nothing is changed, and no git runs on the folders.',
    examples: [
      ['assess', 'the instance of this folder'],
      ['assess app-run-1a2b3c4d --files', 'another one, file by file'],
      ['assess --exit-code --quiet', 'for scripts'],
    ],
    exits: [0, 1, 3],
  });
}

async function assessOutcome(
  { snap, style, next }: Context,
  instance: string | undefined,
  { files = false, exitCode }: AssessOptions,
): Promise<Outcome> {
  const assessment = await snap.assess(instance);
  const [{ assessmentData }, { assessmentText }] = await Promise.all([
    import('../views/json-assess.js'),
    import('../views/text-assess.js'),
  ]);
  const atRisk = assessment.verdict === 'dirty' || assessment.verdict === 'unpushed';
  return {
    data: () => assessmentData(assessment, files),
    text: async () => assessmentText(assessment, { files, style: await style(), next }),
    exitCode: exitCode === true && atRisk ? 1 : 0,
  };
}
