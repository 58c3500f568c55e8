import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { parentOf, toBytes } from './bytes.js';
import { reach, reachBoth } from './reach.js';
import type { ContentSpec, EntrySpec, FileSpec, SpecialSpec, TreeSpec } from './tree-plan.js';

/**
 * Writes a planned tree to disk, exactly: whatever the umask, whatever the length of a path. `root` is created when it
 * is missing. Modes are set last, so that read-only directories can be filled.
 */
export async function buildTree(root: string, spec: TreeSpec): Promise<void> {
  mkdirSync(root, { recursive: true });
  const made = makeDirectories(root, spec);
  for (const entry of spec) {
    if (entry.type === 'file') writeFile(root, entry);
    else if (entry.type === 'symlink') makeSymlink(root, entry.path, entry.target);
    else if (entry.type === 'hardlink') reachBoth(root, entry.to, entry.path, (to, path) => linkSync(to, path));
    else if (entry.type !== 'directory') await makeSpecial(root, entry);
  }
  for (const entry of spec) setOwner(root, entry);
  for (const entry of spec) setMode(root, entry);
  setDirectoryModes(root, spec, made);
}

// Every directory of the plan, named or only passed through, is writable until all is in place.
function makeDirectories(root: string, spec: TreeSpec): string[] {
  const made = new Set<string>();
  const need = (path: string): void => {
    if (path === '' || made.has(path)) return;
    need(parentOf(path));
    reach(root, path, (hostPath) => mkdirSync(hostPath, 0o700));
    made.add(path);
  };
  for (const entry of spec) need(entry.type === 'directory' ? entry.path : parentOf(entry.path));
  return [...made];
}

function writeFile(root: string, entry: FileSpec): void {
  const descriptor = reach(root, entry.path, (hostPath) => openSync(hostPath, 'wx', 0o600));
  try {
    for (const { at, bytes } of contentPieces(entry.content)) writeAll(descriptor, bytes, at);
    if (typeof entry.content !== 'string') ftruncateSync(descriptor, entry.content.size);
  } finally {
    closeSync(descriptor);
  }
}

function* contentPieces(content: ContentSpec): Generator<{ at: number; bytes: Buffer }> {
  if (typeof content === 'string') {
    yield { at: 0, bytes: toBytes(content) };
  } else if ('pieces' in content) {
    for (const { at, bytes } of content.pieces) yield { at, bytes: toBytes(bytes) };
  } else {
    const block = toBytes(content.unit.repeat(Math.max(1, Math.ceil((1 << 20) / content.unit.length))));
    for (let at = 0; at < content.size; at += block.length) {
      yield { at, bytes: block.subarray(0, content.size - at) };
    }
  }
}

function writeAll(descriptor: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}

function makeSymlink(root: string, path: string, target: string): void {
  reach(root, path, (hostPath) => symlinkSync(toBytes(target), hostPath));
}

// mkfifo and bind take no names of any bytes and any length, rename does: made beside the root, then moved.
async function makeSpecial(root: string, entry: SpecialSpec): Promise<void> {
  const full = resolve(root);
  const area = mkdtempSync(join(dirname(full), `.${basename(full).slice(0, 40)}-`));
  const moveIn = (): void => reach(root, entry.path, (hostPath) => renameSync(join(area, 'made'), hostPath));
  try {
    if (entry.type === 'socket') {
      await withListener(area, moveIn);
    } else {
      makeFifo(join(area, 'made'));
      moveIn();
    }
  } finally {
    rmSync(area, { recursive: true, force: true });
  }
}

/** Makes a FIFO with mode 0600. The path must be text and of usual length. */
export function makeFifo(hostPath: string): void {
  const { status, stderr } = spawnSync('mkfifo', ['-m', '600', '--', hostPath], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mkfifo failed: ${stderr}`);
}

// The name is taken away while the server still listens: closing it then removes nothing.
async function withListener(area: string, act: () => void): Promise<void> {
  const server = createServer();
  const descriptor = openSync(area, 'r');
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed).listen(`/proc/self/fd/${descriptor}/made`, done);
    });
    act();
    await new Promise((done) => server.close(done));
  } finally {
    closeSync(descriptor);
  }
}

function setOwner(root: string, entry: EntrySpec): void {
  const { owner } = entry;
  if (owner === undefined) return;
  reach(root, entry.path, (hostPath) => lchownSync(hostPath, owner.uid, owner.gid));
}

function setMode(root: string, entry: EntrySpec): void {
  if (entry.type !== 'file' && entry.type !== 'fifo' && entry.type !== 'socket') return;
  reach(root, entry.path, (hostPath) => chmodSync(hostPath, entry.mode ?? 0o644));
}

// Deepest first: a directory that may not be entered any more stops nothing.
function setDirectoryModes(root: string, spec: TreeSpec, made: readonly string[]): void {
  const modes = new Map(made.map((path) => [path, 0o755]));
  for (const entry of spec) if (entry.type === 'directory') modes.set(entry.path, entry.mode ?? 0o755);
  for (const path of [...modes.keys()].sort().reverse()) {
    reach(root, path, (hostPath) => chmodSync(hostPath, modes.get(path)!));
  }
}
