import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskUsage, expectSame, remove } from '../disk.js';
import type { Measured } from '../command.js';
import { writeOut } from '../command.js';
import type { Input } from '../inputs/recipe.js';
import type { RowName } from '../settings.js';
import type { Session } from '../session.js';
import { SnapStore } from '../tools/jackin-snap.js';
import type { Tool, ToolStore } from '../tools/tool.js';

/** One input, and a store of each tool that holds it. */
export interface Scene {
  readonly session: Session;
  readonly input: Input;
  readonly ours: SnapStore;
  readonly peers: readonly OpenStore[];
}

export interface OpenStore {
  readonly tool: string;
  readonly store: ToolStore;
}

/** All stores, ours first: the order of each round. */
export function storesOf({ ours, peers }: Pick<Scene, 'ours' | 'peers'>): OpenStore[] {
  return [{ tool: 'jackin-snap', store: ours }, ...peers];
}

export async function openStores(
  session: Session,
  folder: string,
  tools: readonly Tool[],
  saveOptions: readonly string[] = [],
): Promise<Pick<Scene, 'ours' | 'peers'>> {
  const peers: OpenStore[] = [];
  for (const tool of tools) {
    peers.push({ tool: tool.name, store: await tool.open(session.place(tool.name), folder) });
  }
  const ours = new SnapStore(session.surroundings, session.place('jackin-snap'), folder, saveOptions);
  return { ours, peers };
}

export function removeStores(stores: Pick<Scene, 'ours' | 'peers'>): void {
  for (const { store } of storesOf(stores)) remove(store.place, `${store.place}.cache`, `${store.place}.base`);
}

/** Measures a save, and what it adds to the store. */
export async function noteSave(
  { session, input }: Pick<Scene, 'session' | 'input'>,
  row: RowName,
  { tool, store }: OpenStore,
): Promise<void> {
  const before = usageOf(store);
  const measured = await measuredAlone(store.save);
  noteRun(session, row, input.name, tool, measured, usageOf(store) - before);
}

/** Runs a work when the disk has come to rest. */
export async function measuredAlone(work: () => Promise<Measured>): Promise<Measured> {
  writeOut();
  return await work();
}

export function noteRun(
  session: Session,
  row: RowName,
  input: string,
  tool: string,
  measured: Measured,
  bytes?: number,
): void {
  session.results.add(row, input, tool, measured, bytes);
  session.say(`${row}, ${input}, ${tool}: ${measured.seconds.toFixed(3)} s`);
}

/** What remains of a store that is not there yet is nothing: ours is made by its first save. */
function usageOf(store: ToolStore): number {
  try {
    return diskUsage(store.place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Changes ten files, other ones each round, and gives what they held before. */
export function changeTen(input: Input, round: number): Map<string, string> {
  const { changeable, folder } = input;
  const step = Math.max(1, Math.floor(changeable.length / 10));
  const places = Array.from({ length: 10 }, (_, at) => (at * step + (round % step)) % changeable.length);
  const before = new Map<string, string>();
  for (const place of places) {
    const path = join(folder, changeable[place]!);
    before.set(path, readFileSync(path, 'latin1'));
    appendFileSync(path, `// round ${round}\n`);
  }
  expectSame('files changed', 10, before.size);
  return before;
}

export function expectContents(wanted: ReadonlyMap<string, string>): void {
  for (const [path, content] of wanted) expectSame(`${path}: content`, content, readFileSync(path, 'latin1'));
}
