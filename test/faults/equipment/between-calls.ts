import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Call = (...args: unknown[]) => unknown;

/** Names of what the program calls when it reads or changes a folder. */
const names = [
  ...['openSync', 'closeSync', 'readSync', 'writeSync', 'readdirSync', 'readlinkSync', 'lstatSync', 'fstatSync'],
  ...['statSync', 'mkdirSync', 'rmdirSync', 'unlinkSync', 'renameSync', 'linkSync', 'symlinkSync', 'ftruncateSync'],
  ...['chmodSync', 'fchmodSync', 'lchownSync', 'fchownSync', 'fsyncSync', 'opendirSync', 'utimesSync', 'lutimesSync'],
] as const;

/**
 * While `act` runs, calls `meddle` before each call to the file system of this process, with its number and the paths
 * that it names, as latin1: what another process could do in that moment. What `meddle` does itself is not counted. Answers
 * the paths of all calls.
 */
export async function betweenCalls(
  meddle: (call: number, paths: readonly string[]) => void,
  act: () => Promise<void>,
): Promise<string[][]> {
  const table = fs as unknown as Record<string, Call>;
  const originals = new Map(names.map((name) => [name as string, table[name]!]));
  const calls: string[][] = [];
  let meddling = false;
  for (const [name, original] of originals) {
    table[name] = (...args) => {
      if (!meddling) {
        meddling = true;
        const paths = args.filter(isPath).map((path) => Buffer.from(path).toString('latin1'));
        try {
          meddle(calls.length, paths);
        } finally {
          meddling = false;
        }
        calls.push(paths);
      }
      return original.apply(fs, args);
    };
  }
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    for (const [name, original] of originals) table[name] = original;
    syncBuiltinESMExports();
  }
  return calls;
}

function isPath(argument: unknown): argument is string | Buffer {
  return typeof argument === 'string' || (Buffer.isBuffer(argument) && argument.length < 10_000);
}
