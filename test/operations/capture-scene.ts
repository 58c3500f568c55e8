import { createHash } from 'node:crypto';
import { join } from 'node:path';

import type { EntryStat, LeftOutReason } from '../../src/core/entry.js';
import type { HostPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { Directory, ObjectWriter, OpenFile, StatCache, TreeEntry } from '../../src/core/ports.js';
import { openMount } from '../../src/fs/held-directory.js';
import { hasher } from '../../src/git/pack/hasher.js';
import { usualAttributes } from '../../src/operations/capture/attributes.js';
import { type CaptureRequest, type CapturedTree, capture } from '../../src/operations/capture/capture.js';
import type { DirectoryRules } from '../../src/operations/capture/level.js';
import { Interruption } from '../../src/operations/interruption.js';
import { buildTree } from '../support/build-tree.js';
import { tempDir } from '../support/temp.js';
import { file, symlink } from '../support/tree-plan.js';

/** What happens ahead of a look at a path: `list d`, `stat d/f`, `open d/f`, `read d/f`, `enter d`, `readLink l`. */
export type Happenings = Readonly<Record<string, (time: number) => void>>;

/** Captures a folder in which things happen during the walk. */
export async function captureAmid(
  path: string,
  happenings: Happenings = {},
  more: Partial<CaptureRequest> = {},
): Promise<CapturedTree & { readonly contents: ReadonlyMap<string, string>; readonly trees: readonly TreeEntry[][] }> {
  const root = openMount(path as HostPath);
  const contents = new Map<string, string>();
  const trees: TreeEntry[][] = [];
  try {
    const captured = await capture({
      root: amid(root, '', new Times(happenings)),
      rules: onlySpecialIsLeftOut,
      writer: remembering(contents, trees),
      cache: undefined,
      recorder: undefined,
      grafts: undefined,
      momentNs: BigInt(Date.now()) * 1_000_000n,
      scope: null,
      hasRoom: () => true,
      interruption: new Interruption(undefined),
      onFile: () => undefined,
      ...more,
    });
    return { ...captured, contents, trees };
  } finally {
    root.close();
  }
}

/** Fails with the system's error of that code. */
export function fail(code: string): () => never {
  return () => {
    throw Object.assign(new Error(code), { code });
  };
}

export const onlySpecialIsLeftOut: DirectoryRules = rulesOf((_, stat) => (stat.kind === 'special' ? 'special' : null));

export function rulesOf(leaveOut: (path: string, stat: EntryStat) => LeftOutReason | null): DirectoryRules {
  const rules: DirectoryRules = {
    key: 'rules',
    recordedKey: 'rules',
    leaveOut: (path, _, stat) => leaveOut(path, stat),
    enter: () => Promise.resolve(rules),
  };
  return rules;
}

class Times {
  readonly #happenings: Happenings;
  readonly #times = new Map<string, number>();

  constructor(happenings: Happenings) {
    this.#happenings = happenings;
  }

  ahead(look: string, path: string): void {
    const key = `${look} ${path}`;
    const time = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, time);
    this.#happenings[key]?.(time);
  }
}

function amid(directory: Directory, path: string, times: Times): Directory {
  const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
  return {
    descriptorPath: directory.descriptorPath,
    identity: directory.identity,
    list: () => (times.ahead('list', path), directory.list()),
    stat: (name) => (times.ahead('stat', at(name)), directory.stat(name)),
    statSelf: () => directory.statSelf(),
    readLink: (name) => (times.ahead('readLink', at(name)), directory.readLink(name)),
    openFile: (name) => (times.ahead('open', at(name)), readAmid(directory.openFile(name), at(name), times)),
    enter: (name) => (times.ahead('enter', at(name)), amid(directory.enter(name), at(name), times)),
    close: () => directory.close(),
  };
}

function readAmid(file: OpenFile, path: string, times: Times): OpenFile {
  return {
    stat: () => file.stat(),
    read: (buffer) => (times.ahead('read', path), file.read(buffer)),
    readAt: (buffer, position) => (times.ahead('read', path), file.readAt(buffer, position)),
    dataRanges: () => file.dataRanges(),
    close: () => file.close(),
  };
}

/** Names content like the store, and keeps it in memory. */
function remembering(contents: Map<string, string>, trees: TreeEntry[][]): CaptureRequest['writer'] {
  const large: ObjectWriter['writeLargeBlob'] = async (size, read) => {
    const oid = await hasher.writeLargeBlob(size, read);
    const source = read();
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(1 << 20);
    for (let got = source.next(buffer); got > 0; got = source.next(buffer)) hash.update(buffer.subarray(0, got));
    if (oid !== undefined) contents.set(oid, `sha256 ${hash.digest('hex')}`);
    return oid;
  };
  return {
    writeBlob: (content) => {
      const oid = hasher.writeBlob(content);
      contents.set(oid, Buffer.from(content).toString('latin1'));
      return oid;
    },
    writeLargeBlob: large,
    writeTree: (entries) => (trees.push([...entries]), hasher.writeTree(entries)),
    has: (oid) => contents.has(oid),
  };
}

/** A folder with `a`, `d/f`, `d/g`, `l -> a` and `z`, and how to get at it. */
export async function area(): Promise<{ path: string; at: (name: string) => string }> {
  const path = tempDir('capture');
  await buildTree(path, [file('a', 'A'), file('d/f', 'F'), file('d/g', 'G'), symlink('l', 'a'), file('z', 'Z')]);
  return { path, at: (name) => join(path, name) };
}

type Outcome = Awaited<ReturnType<typeof captureAmid>>;

/** What was captured, a line an entry: a file's content, a link's text, `/` a directory, the reason of what was not. */
export function lines({ entries, leftOut, contents }: Outcome): string[] {
  const stored = [...entries.values()].flatMap((entry) =>
    entry.path === '' ? [] : [`${entry.path} ${entry.kind === 'directory' ? '/' : contents.get(entry.oid)!}`],
  );
  return [...stored, ...leftOut.map(({ path, reason, directory }) => `${path} ${reason}${directory ? ' /' : ''}`)];
}

export const all: readonly string[] = ['a A', 'd /', 'd/f F', 'd/g G', 'l a', 'z Z'];
export const without = (...paths: string[]): string[] => all.filter((line) => !paths.includes(line.split(' ')[0]!));

/** Takes everything, and has nothing. */
export const neverHas: CaptureRequest['writer'] = {
  writeBlob: () => 'a'.repeat(40) as ObjectId,
  writeLargeBlob: () => Promise.resolve('a'.repeat(40) as ObjectId),
  writeTree: () => 'b'.repeat(40) as ObjectId,
  has: () => false,
};

/** A cache that knows some blobs, and of no subtree that it is as it was. */
export function cacheOf(directory: StatCache['directory']): StatCache {
  return {
    notes: { defaults: usualAttributes([]), attributes: [], leftOut: [], repositories: [] },
    directory,
    recheck: () => Promise.resolve({ share: 0, subtree: () => undefined, directory: () => undefined }),
  };
}
