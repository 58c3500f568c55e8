import type { ObjectId } from '../core/ids.js';
import type { ListedObject, PassesOver } from '../core/ports.js';
import { SnapError } from '../errors.js';
import type { BatchReader } from './objects.js';
import { decodeTree } from './pack/format.js';
import type { GitRunner } from './run-git.js';

/**
 * All entries below a tree, depth first, each directory before its content, as git lists them. What git says is
 * checked: whatever the trees hold, no path has an empty, "." or ".." component, lies below anything but the directory
 * listed before it, or comes twice, and only files, links and directories are listed. That a file's object is a blob
 * shows when it is read.
 *
 * @throws SnapError STORE_DAMAGED for a tree that is missing, unreadable or breaks these rules.
 */
export async function* listTree(git: GitRunner, tree: string): AsyncGenerator<ListedObject> {
  if (!/^[\x21-\x2c\x2e-\x7e]/.test(tree))
    throw new SnapError('INTERNAL', `${JSON.stringify(tree)} names no tree.`, { what: 'tree name' });
  const command = { args: ['ls-tree', '-r', '-t', '-z', '-l', '--full-tree', tree] };
  const running = await git.start(command);
  const order = new ListingOrder();
  try {
    let rest = '';
    for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
      const records = (rest + chunk.toString('latin1')).split('\0');
      rest = records.pop() ?? '';
      for (const record of records) yield order.check(parseRecord(record));
    }
    const { exitCode, stderr } = await running.end;
    if (exitCode > 0 && exitCode <= 128) {
      throw damaged(`the tree ${JSON.stringify(tree)} cannot be listed`, git.failure(command, exitCode, stderr));
    }
    if (exitCode !== 0 || rest !== '') throw git.failure(command, exitCode, stderr);
  } finally {
    running.kill();
  }
}

/**
 * The same, apart from what it is told to pass over: its cost goes with what is listed.
 *
 * @throws SnapError STORE_DAMAGED as `listTree` does.
 */
export async function* listTreeInPart(
  reader: BatchReader,
  tree: string,
  passesOver: PassesOver,
): AsyncGenerator<ListedObject> {
  const order = new ListingOrder();
  const { content } = await reader.read(tree, 'tree');
  for (const entry of await listBelow(reader, '', content, passesOver)) yield order.check(entry);
}

/** Asks for all of a tree's directories and sizes at once, so that git works ahead. */
async function listBelow(
  reader: BatchReader,
  prefix: string,
  tree: Buffer,
  passesOver: PassesOver,
): Promise<ListedObject[]> {
  const listed = decodeTree(tree).map(async ({ mode, name, oid }): Promise<ListedObject[]> => {
    const path = prefix + name;
    const type = typeOfMode[mode.toString(8).padStart(6, '0')];
    if (type === undefined)
      throw damaged(`${JSON.stringify(path)} has mode ${mode.toString(8)}, which no snapshot has`);
    if (type === 'blob') return [{ mode, type, oid, size: await reader.size(oid), path }];
    if (passesOver(path, oid)) return [];
    const { content } = await reader.read(oid, 'tree');
    return [{ mode, type, oid, size: null, path }, ...(await listBelow(reader, `${path}/`, content, passesOver))];
  });
  return (await Promise.all(listed)).flat();
}

interface OpenDirectory {
  readonly prefix: string;
  readonly names: Set<string>;
}

/** The directories that the listing is in at the moment, and the names that each has had. */
class ListingOrder {
  readonly #open: OpenDirectory[] = [{ prefix: '', names: new Set() }];

  check(entry: ListedObject): ListedObject {
    const directory = this.#enclosing(entry.path);
    const name = entry.path.slice(directory.prefix.length);
    if (name === '' || name === '.' || name === '..')
      throw damaged(`the path ${JSON.stringify(entry.path)} leads elsewhere`);
    if (name.includes('/')) throw damaged(`the path ${JSON.stringify(entry.path)} is in no listed directory`);
    if (directory.names.has(name)) throw damaged(`the path ${JSON.stringify(entry.path)} comes twice`);
    directory.names.add(name);
    if (entry.type === 'tree') this.#open.push({ prefix: `${entry.path}/`, names: new Set() });
    return entry;
  }

  #enclosing(path: string): OpenDirectory {
    for (;;) {
      const last = this.#open.at(-1);
      if (last === undefined) throw damaged('its listing has no end');
      if (path.startsWith(last.prefix)) return last;
      this.#open.pop();
    }
  }
}

const typeOfMode: Readonly<Record<string, 'blob' | 'tree'>> = {
  '100644': 'blob',
  '100755': 'blob',
  '120000': 'blob',
  '040000': 'tree',
};

function parseRecord(record: string): ListedObject {
  const tab = record.indexOf('\t');
  const [mode = '', type = '', oid = '', size = ''] = record.slice(0, tab).split(/ +/);
  const path = record.slice(tab + 1);
  const expected = typeOfMode[mode];
  if (expected === undefined || expected !== type) {
    throw damaged(`${JSON.stringify(path)} is a ${type} of mode ${mode}, which no snapshot has`);
  }
  if (expected === 'blob' && !/^[0-9]+$/.test(size)) throw damaged(`the content of ${JSON.stringify(path)} is missing`);
  return {
    mode: parseInt(mode, 8),
    type: expected,
    oid: oid as ObjectId,
    size: expected === 'blob' ? Number(size) : null,
    path,
  };
}

function damaged(problem: string, cause?: unknown): SnapError<'STORE_DAMAGED'> {
  return new SnapError(
    'STORE_DAMAGED',
    `The store holds a tree that cannot be used: ${problem}.`,
    { problem },
    { cause },
  );
}
