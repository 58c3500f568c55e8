import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { remove } from './disk.js';
import { judge } from './goals.js';
import { toDocument } from './report/document.js';
import { printTables } from './report/tables.js';
import { measureGrowth } from './rows/growth.js';
import { measureInput } from './rows/inputs.js';
import { measureStart } from './rows/start-rows.js';
import { Session } from './session.js';
import type { Settings } from './settings.js';
import { readSettings, usage } from './settings.js';

const [root, ...words] = process.argv.slice(2);
process.exitCode = await main(root!, words);

/** Runs the bench. Everything lies in the work folder, which is gone afterwards. */
async function main(root: string, words: readonly string[]): Promise<number> {
  const settings = settingsFrom(words);
  if (settings === null || settings.help) {
    (settings === null ? process.stderr : process.stdout).write(usage);
    return settings === null ? 2 : 0;
  }
  mkdirSync(settings.work, { recursive: true });
  process.on('exit', () => remove(settings.work));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  const session = new Session(settings, root);
  if (settings.quick) session.note('The inputs are tiny: these figures say nothing about speed.');
  await (settings.growth ? measureGrowth(session) : measureRows(session));
  writeDocument(session);
  process.stdout.write(`${printTables(session.results, judgedOf(session))}\n`);
  return session.failed ? 1 : 0;
}

function settingsFrom(words: readonly string[]): Settings | null {
  try {
    const settings = readSettings(words);
    if (existsSync(settings.work))
      throw new Error(`${settings.work} is there already: the bench makes its own folder.`);
    return settings;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n`);
    return null;
  }
}

// What was measured is written after each input: whatever happens later, it is not lost.
async function measureRows(session: Session): Promise<void> {
  await measureStart(session);
  for (const name of session.settings.inputs) {
    try {
      await measureInput(session, name);
    } catch (error) {
      session.fail(`${name}: ${(error as Error).stack ?? String(error)}`);
    }
    session.clear();
    writeDocument(session);
  }
}

function writeDocument(session: Session): void {
  const { json } = session.settings;
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(toDocument(session, judgedOf(session)), null, 2)}\n`);
}

function judgedOf(session: Session): ReturnType<typeof judge> {
  return session.settings.growth ? [] : judge(session);
}
