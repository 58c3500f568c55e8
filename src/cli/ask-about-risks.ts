import type { NamedRisk } from '../index.js';
import { displayPath } from './library.js';
import type { Surroundings } from './surroundings.js';
import { riskLines } from './views/text-assess.js';

/** Lists on a terminal what is dirty or unpushed in an instance, and asks whether all of it may go. */
export async function askAboutRisks(
  { output, ask }: Pick<Surroundings, 'output' | 'ask'>,
  instance: string,
  risks: readonly NamedRisk[],
  notes: readonly string[] = [],
): Promise<boolean> {
  const lines = riskLines(risks).map((line) => `  ${line}\n`);
  const noted = notes.map((note) => `${note}\n`);
  await output.stderr.write(`Dirty or unpushed in ${instance}:\n${[...lines, ...noted].join('')}`);
  const names = risks.map(({ name }) => displayPath(name)).join(', ');
  return ask(`Discard ${instance} although this is at risk: ${names}?`);
}
