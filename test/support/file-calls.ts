import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

type Call = (...args: unknown[]) => unknown;

const names = [
  ...['openSync', 'writeSync', 'fsyncSync', 'fchmodSync', 'fchownSync', 'ftruncateSync', 'mkdirSync', 'rmdirSync'],
  ...['unlinkSync', 'renameSync', 'linkSync', 'symlinkSync', 'chmodSync', 'chownSync'],
] as const;

/**
 * What this process asks of the file system while `act` runs, in order, below `folder`: `fsync a/b`, `rename a b`. A
 * descriptor is called by the path that it has at that moment. What fails is told too.
 * @param before is told of each call before it is made; what it does itself is not told
 */
export async function fileCalls(
  folder: string,
  act: () => unknown,
  before: (call: string) => void = () => undefined,
): Promise<string[]> {
  const table = fs as unknown as Record<string, Call>;
  const originals = new Map(names.map((name) => [name as string, table[name]!]));
  const root = fs.realpathSync(folder);
  const calls: string[] = [];
  const restore = (): void => {
    for (const [name, original] of originals) table[name] = original;
    syncBuiltinESMExports();
  };
  let isTelling = false;
  const tell = (call: string): void => {
    if (isTelling) return;
    isTelling = true;
    calls.push(call);
    try {
      before(call);
    } finally {
      isTelling = false;
    }
  };
  for (const [name, original] of originals) {
    table[name] = (...args) => {
      const paths = args.slice(0, twoPaths.has(name) ? 2 : 1).map((argument) => below(root, pathOf(argument)));
      if (paths.some((path) => path !== undefined))
        tell([name.replace('Sync', ''), ...paths.map((path) => path ?? '-')].join(' '));
      return original.apply(fs, args);
    };
  }
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    restore();
  }
  return calls;
}

const twoPaths: ReadonlySet<string> = new Set(['renameSync', 'linkSync', 'symlinkSync']);

function pathOf(argument: unknown): string {
  if (typeof argument === 'number') return fs.readlinkSync(`/proc/self/fd/${argument}`);
  const path = Buffer.from(argument as string | Buffer).toString('latin1');
  const held = /^\/proc\/self\/fd\/(\d+)\/?(.*)$/.exec(path);
  return held === null ? path : join(fs.readlinkSync(`/proc/self/fd/${held[1]}`), held[2] ?? '');
}

function below(root: string, path: string): string | undefined {
  if (path === root) return '.';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}
