import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

import type { ObjectId } from '../../src/core/ids.js';
import type { ObjectWriter, Store, TreeEntry } from '../../src/core/ports.js';
import { type StoreOptions, openStore } from '../../src/git/store.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

export interface StoreArea {
  readonly dataDir: string;
  readonly store: Store;
  readonly directory: string;
}

/** A store in a new data directory, ready for use. */
export async function preparedStore(options: Partial<StoreOptions> = {}): Promise<StoreArea> {
  const dataDir = options.dataDir ?? join(tempDir('store'), 'data');
  // As the command does before it opens one.
  if (options.dataDir === undefined) mkdirSync(dataDir, { mode: 0o700 });
  const store = openStore({ env: process.env, forbiddenProgramDirectories: () => [], ...options, dataDir });
  await store.prepare();
  return { dataDir, store, directory: join(dataDir, 'store.git') };
}

export function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

export const bytesOf = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

export const file = (name: string, oid: ObjectId): TreeEntry => ({ mode: 0o100644, name, oid });
export const folder = (name: string, oid: ObjectId): TreeEntry => ({ mode: 0o40000, name, oid });

/** The content of a commit without parents, as snapshots are. */
export function commitContent(tree: ObjectId, message: string, seconds = 1_700_000_000): Buffer {
  const who = `t <t@t> ${seconds} +0000`;
  return Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${message}`, 'utf8');
}

/** Writes a snapshot-like commit: `mounts/m/<name>` with these contents, and something in `meta/`. */
export function writeSnapshot(
  writer: ObjectWriter,
  files: Readonly<Record<string, string>>,
  message = 's\n',
): ObjectId {
  const entries = Object.entries(files).map(([name, content]) => file(name, writer.writeBlob(bytesOf(content))));
  const mount = writer.writeTree(entries);
  const mounts = writer.writeTree([folder('m', mount)]);
  const meta = writer.writeTree([file('manifest', writer.writeBlob(bytesOf(message)))]);
  return writer.writeCommit(commitContent(writer.writeTree([folder('mounts', mounts), folder('meta', meta)]), message));
}

/** Writes and publishes one snapshot and its ref. */
export async function publishSnapshot(
  store: Store,
  seq: number,
  files: Readonly<Record<string, string>>,
  instance = 't',
): Promise<ObjectId> {
  const writer = store.newWriter();
  const commit = writeSnapshot(writer, files, `snapshot ${seq}\n\nJackin-Seq: ${seq}\n`);
  await writer.publish();
  await store.changeRefs([{ name: `refs/jackin/${instance}/${seq}`, old: null, new: commit }]);
  return commit;
}

export async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Both parts of it, one after the other. */
export async function collectGarbage(store: Store, graceSeconds = 0): Promise<void> {
  await store.removeRest(await store.packKept(graceSeconds));
}

/** Turns all packs into loose objects. */
export function explode(dataDir: string, directory: string): void {
  const packs = join(directory, 'objects/pack');
  for (const name of readdirSync(packs).filter((found) => found.endsWith('.pack'))) {
    const content = readFileSync(join(packs, name));
    rmSync(join(packs, name));
    rmSync(join(packs, name.replace('.pack', '.idx')));
    storeGit(dataDir, ['unpack-objects', '-q'], { stdin: content });
  }
}

export function loosePath(directory: string, oid: string): string {
  return join(directory, 'objects', oid.slice(0, 2), oid.slice(2));
}

export interface ScriptRun {
  readonly code: number | null;
  readonly text: string;
  readonly errors: string;
}

/** Runs TypeScript that may import from src in a process of its own. `onText` sees its output as it comes. `through` wraps the command. */
export async function runScript(
  source: string,
  env: Readonly<Record<string, string>> = {},
  onText: (text: string, child: ChildProcess) => void = () => undefined,
  through: (command: readonly string[]) => [string, readonly string[]] = ([program = '', ...args]) => [program, args],
): Promise<ScriptRun> {
  const script = join(tempDir('script'), 'script.mjs');
  await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  const child = spawn(...through([process.execPath, script]), {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    onText(text, child);
  });
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text, errors };
}

/** The lines that open a store in a script. */
export function openingIn(dataDir: string): string {
  return `
    import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../../src/git/store.ts'))};
    const store = openStore({ dataDir: ${JSON.stringify(dataDir)}, env: process.env, forbiddenProgramDirectories: () => [] });`;
}

/** For scripts: the most memory that the process has had, in KiB. What `getrusage` says begins with its parent's. */
export const peakMemory =
  "Number(/VmHWM:\\s*(\\d+)/.exec((await import('node:fs')).readFileSync('/proc/self/status', 'utf8'))[1])";
