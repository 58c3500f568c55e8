import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import git from 'isomorphic-git';

/*
 * A reader of stores that was written from refs-layout.md alone: it shares no code with the program and asks no git.
 * Paths and names are bytes, carried as latin1.
 */

export interface ReadEntry {
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Null for symlinks. */
  readonly mode: number | null;
  readonly size: number;
  readonly sha256: string | null;
  readonly target: string | null;
  readonly linkGroup: string | null;
  readonly sparse: boolean;
  readonly uid: number;
  readonly gid: number;
}

export interface ReadMount {
  readonly name: string;
  readonly path: string;
  readonly entries: readonly ReadEntry[];
  readonly observed: readonly { readonly path: string; readonly reason: string; readonly directory: boolean }[];
}

type JsonPath = string | { readonly base64: string };

interface Attributes {
  readonly path: JsonPath;
  readonly bare?: boolean;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly sparse?: boolean;
  readonly size?: number;
  readonly linked_to?: JsonPath;
}

interface Defaults {
  readonly file: number;
  readonly executable: number;
  readonly directory: number;
  readonly uid: number;
  readonly gid: number;
}

interface TreeLine {
  readonly mode: string;
  readonly name: string;
  readonly oid: string;
}

/** All mounts of one snapshot. */
export async function readSnapshot(dataDir: string, instance: string, seq: number): Promise<ReadMount[]> {
  const objects = new Objects(join(dataDir, 'store.git'));
  const commit = await objects.resolve(`refs/jackin/${instance}/${seq}`);
  const content = (await objects.read(commit, 'commit')).toString('utf8');
  if (trailers(content).get('Format') !== '1') throw new Error('The snapshot has a format that is not known here.');
  const tree = /^tree ([0-9a-f]{40})$/m.exec(content)![1]!;
  const manifest = JSON.parse((await objects.at(tree, 'meta/manifest.json')).toString('utf8')) as {
    mounts: { name: string; path: JsonPath; defaults: Defaults }[];
  };
  const mounts: ReadMount[] = [];
  for (const { name, path, defaults } of manifest.mounts) {
    const attributes = lines<Attributes>(await objects.at(tree, `meta/mounts/${name}/attributes`));
    const observed = lines<{ path: JsonPath; reason: string; directory?: boolean }>(
      await objects.at(tree, `meta/mounts/${name}/observed`),
    );
    mounts.push({
      name,
      path: bytes(path),
      entries: await entriesOf(objects, await objects.find(tree, `mounts/${name}`), attributes, defaults),
      observed: observed.map((line) => ({
        path: bytes(line.path),
        reason: line.reason,
        directory: line.directory ?? false,
      })),
    });
  }
  return mounts;
}

/** The trailers of the last paragraph. */
export function trailers(commit: string): Map<string, string> {
  const paragraph = commit.replace(/\n+$/, '').split('\n\n').at(-1)!;
  const found = [...paragraph.matchAll(/^Jackin-([A-Za-z-]+): ([^\n]*)$/gm)];
  return new Map(found.map(([, key = '', value = '']) => [key, value]));
}

async function entriesOf(
  objects: Objects,
  tree: string,
  attributes: readonly Attributes[],
  defaults: Defaults,
): Promise<ReadEntry[]> {
  const said = new Map(attributes.map((line) => [bytes(line.path), line]));
  const entries: ReadEntry[] = [];
  const add = (path: string, type: ReadEntry['type'], usualMode: number, content: Buffer | null): void => {
    const line = { mode: usualMode, uid: defaults.uid, gid: defaults.gid, sparse: false, ...said.get(path) };
    entries.push({
      path,
      type,
      ...contentOf(type, content),
      mode: type === 'symlink' ? null : line.mode,
      linkGroup: line.linked_to === undefined ? null : bytes(line.linked_to),
      sparse: line.sparse,
      uid: line.uid,
      gid: line.gid,
    });
  };
  const visit = async (oid: string, path: string): Promise<void> => {
    add(path, 'directory', defaults.directory, null);
    for (const line of await objects.tree(oid)) {
      const inner = `${path === '' ? '' : `${path}/`}${unescape(line.name)}`;
      if (line.mode === '40000') await visit(line.oid, inner);
      else {
        const type = line.mode === '120000' ? 'symlink' : 'file';
        const usual = line.mode === '100755' ? defaults.executable : defaults.file;
        const blob = await objects.read(line.oid, 'blob');
        const size = said.get(inner)?.size;
        add(inner, type, usual, type === 'symlink' || size === undefined ? blob : contentByRanges(blob, size));
      }
    }
  };
  await visit(tree, '');
  for (const [path, { bare }] of said) if (bare === true) add(path, 'directory', defaults.directory, null);
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function contentByRanges(blob: Buffer, size: number): Buffer {
  const end = blob.indexOf('\n\n') + 1;
  const [magic, sizeLine, ...ranges] = blob.toString('latin1', 0, end).split('\n').slice(0, -1);
  if (magic !== 'jackin-ranges 1' || sizeLine !== String(size)) throw new Error('A blob is not by ranges.');
  const content = Buffer.alloc(size);
  let at = end + 1;
  for (const range of ranges) {
    const [offset = 0, length = 0] = range.split(' ').map(Number);
    at += blob.copy(content, offset, at, at + length);
  }
  if (at !== blob.length) throw new Error('Ranges and data do not fit.');
  return content;
}

function contentOf(type: ReadEntry['type'], content: Buffer | null): Pick<ReadEntry, 'size' | 'sha256' | 'target'> {
  const nothing = { size: content?.length ?? 0, sha256: null, target: null };
  if (type === 'file') return { ...nothing, sha256: createHash('sha256').update(content!).digest('hex') };
  return type === 'symlink' ? { ...nothing, target: content!.toString('latin1') } : nothing;
}

function unescape(name: string): string {
  const unblanked = name.replace(/^%20(?= *(?:$|:))/, ' ');
  return unblanked.replace(/%(2e|7e|5c|25)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

function bytes(path: JsonPath): string {
  return Buffer.from(
    typeof path === 'string' ? path : path.base64,
    typeof path === 'string' ? 'utf8' : 'base64',
  ).toString('latin1');
}

function lines<Line>(content: Buffer): Line[] {
  const texts = content.toString('utf8').split('\n');
  return texts.filter((text) => text !== '').map((text) => JSON.parse(text) as Line);
}

class Objects {
  readonly #gitdir: string;
  readonly #cache = {};

  constructor(gitdir: string) {
    this.#gitdir = gitdir;
  }

  async resolve(ref: string): Promise<string> {
    return git.resolveRef({ fs, gitdir: this.#gitdir, ref });
  }

  async read(oid: string, type: 'blob' | 'tree' | 'commit'): Promise<Buffer> {
    // What would be better turns names that are not UTF-8 into text.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const found = await git.readObject({ fs, gitdir: this.#gitdir, cache: this.#cache, oid, format: 'content' });
    if (found.type !== type) throw new Error(`${oid} is a ${found.type}, not a ${type}.`);
    return Buffer.from(found.object as Uint8Array);
  }

  /** Taken apart here, since isomorphic-git makes text of names. */
  async tree(oid: string): Promise<TreeLine[]> {
    const content = await this.read(oid, 'tree');
    const found: TreeLine[] = [];
    for (let at = 0; at < content.length;) {
      const end = content.indexOf(0, at);
      const [, mode = '', name = ''] = /^([0-7]+) ([^]*)$/.exec(content.toString('latin1', at, end)) ?? [];
      found.push({ mode, name, oid: content.toString('hex', end + 1, end + 21) });
      at = end + 21;
    }
    return found;
  }

  async find(tree: string, path: string): Promise<string> {
    let oid = tree;
    for (const name of path.split('/')) {
      const line = (await this.tree(oid)).find((candidate) => candidate.name === name);
      if (line === undefined) throw new Error(`${path} is missing.`);
      oid = line.oid;
    }
    return oid;
  }

  async at(tree: string, path: string): Promise<Buffer> {
    return this.read(await this.find(tree, path), 'blob');
  }
}
