import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { remove } from './disk.js';
import { goals, judge } from './goals.js';
import { makeCodeTree } from './inputs/code-tree.js';
import type { Input } from './inputs/input.js';
import { makeDeepTree, makeSmallFiles } from './inputs/plain-trees.js';
import { toDocument } from './report/document.js';
import { printTables } from './report/tables.js';
import { measureBig } from './rows/big-rows.js';
import { measureGrowth } from './rows/growth.js';
import { measureHistory } from './rows/history-rows.js';
import { measureList } from './rows/list-rows.js';
import { measureStart } from './rows/start-rows.js';
import type { TreePlan } from './rows/tree-rows.js';
import { measureTree } from './rows/tree-rows.js';
import { Session } from './session.js';
import type { InputName, Settings } from './settings.js';
import { readSettings, usage } from './settings.js';

/** Runs the bench. Everything lies in the work folder, which is gone afterwards. */
export async function main(words: readonly string[], root: string): Promise<number> {
  let settings: Settings;
  try {
    settings = readSettings(words);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (settings.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (existsSync(settings.work))
    throw new Error(`${settings.work} is there already; the bench wants a folder of its own.`);
  mkdirSync(settings.work, { recursive: true });
  try {
    const session = new Session(settings, root);
    await (settings.growth ? measureGrowth(session) : measureRows(session));
    report(session);
    return 0;
  } finally {
    remove(settings.work);
  }
}

async function measureRows(session: Session): Promise<void> {
  await measureStart(session);
  for (const name of session.settings.inputs) await measurements[name as InputName](session);
}

const treeRows = ['first-save', 'nothing-changed', 'ten-changed', 'restore-ten', 'full-restore'] as const;

const measurements: Readonly<Record<InputName, (session: Session) => Promise<void>>> = {
  small: (session) => codeTree(session, 'small', 1, { slowRuns: 7, quickRuns: 15 }),
  medium: (session) => codeTree(session, 'medium', 2, { slowRuns: 5, quickRuns: 11 }),
  large: (session) => codeTree(session, 'large', 3, { slowRuns: 3, quickRuns: 5 }),
  huge: async (session) => {
    const plan = { rows: treeRows, slowRuns: 1, quickRuns: 3, peers: gitAlone(session) };
    const random = session.random(4);
    await tree(session, plan, 'huge', (folder) => makeSmallFiles('huge', folder, session.sizes.huge, random));
  },
  big: measureBig,
  deep: async (session) => {
    const plan = { rows: treeRows, slowRuns: 3, quickRuns: 5, peers: session.peers.tools };
    const { chains, levels } = session.sizes.deep;
    await tree(session, plan, 'deep', (folder) => makeDeepTree('deep', folder, chains, levels, session.random(7)));
  },
  history: async (session) => {
    const make = (wanted: number, purpose: number) => (folder: string) =>
      makeCodeTree('history', folder, wanted, session.packages(), session.random(purpose));
    await withInput(session, 'history', make(session.sizes.medium, 2), (input) => measureHistory(session, input));
    await withInput(session, 'list', make(session.sizes.small, 1), (input) => measureList(session, input));
  },
};

async function codeTree(
  session: Session,
  name: 'small' | 'medium' | 'large',
  purpose: number,
  runs: Pick<TreePlan, 'slowRuns' | 'quickRuns'>,
): Promise<void> {
  const make = (folder: string): Input =>
    makeCodeTree(name, folder, session.sizes[name], session.packages(), session.random(purpose));
  await tree(session, { rows: treeRows, peers: session.peers.tools, ...runs }, name, make);
}

async function tree(session: Session, plan: TreePlan, name: InputName, make: (folder: string) => Input): Promise<void> {
  if (!session.wantsAny(plan.rows)) return;
  await withInput(session, name, make, (input) => measureTree(session, input, plan));
}

async function withInput(
  session: Session,
  name: string,
  make: (folder: string) => Input,
  use: (input: Input) => Promise<void>,
): Promise<void> {
  session.say(`making ${name}`);
  const folder = join(session.settings.work, name);
  const input = make(folder);
  session.results.inputs.push(input);
  await use(input);
  remove(folder);
}

// The others need hours for a million files, and no goal speaks of them.
function gitAlone(session: Session): TreePlan['peers'] {
  return session.peers.tools.filter(({ name }) => name === 'git');
}

function report(session: Session): void {
  const judged = session.settings.growth ? [] : judge(goals, session.results);
  process.stdout.write(`${printTables(session.results, judged)}\n`);
  const { json } = session.settings;
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(toDocument(session, judged), null, 2)}\n`);
}
