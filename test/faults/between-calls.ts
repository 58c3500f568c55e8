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
 * While `act` runs, calls `meddle` before each call to the file system of this process, with the number of the call:
 * what another process could do in that moment. What `meddle` does itself is not counted. Answers the number of calls.
 */
export async function betweenCalls(meddle: (call: number) => void, act: () => Promise<void>): Promise<number> {
  const table = fs as unknown as Record<string, Call>;
  const originals = new Map(names.map((name) => [name as string, table[name]!]));
  let calls = 0;
  let meddling = false;
  for (const [name, original] of originals) {
    table[name] = (...args) => {
      if (!meddling) {
        meddling = true;
        try {
          meddle(calls);
        } finally {
          meddling = false;
        }
        calls += 1;
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
