import { type ChildProcess, spawn } from 'node:child_process';

import type { DataRange } from '../core/data-ranges.js';
import { SparseMapReader } from '../core/sparse-map.js';

export interface TarProgram {
  readonly path: string;
  /** The PATH that it gets. */
  readonly searchPath: string;
}

/**
 * Where the data of an open file lies, by what GNU tar writes of it before its content. The program is given the
 * descriptor alone, never a name.
 * @param keepsAccessTime whether the descriptor was opened so that reading leaves the time of access alone
 * @returns undefined when the program is another one, fails, or says nothing that can be believed
 */
export async function findData(
  { path, searchPath }: TarProgram,
  file: { readonly descriptor: number; readonly size: number; readonly keepsAccessTime: boolean },
): Promise<readonly DataRange[] | undefined> {
  const child = spawn(path, [...options, ...(file.keepsAccessTime ? ['--atime-preserve=system'] : []), ...theFile], {
    cwd: '/',
    env: { PATH: searchPath, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore', file.descriptor],
    // A terminal's signals are for us.
    detached: true,
  });
  const ended = endOf(child);
  try {
    return await readMap(child.stdout as AsyncIterable<Buffer>, new SparseMapReader(file.size));
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

const options = [
  '--create',
  '--file=-',
  '--format=posix',
  '--sparse',
  '--hole-detection=seek',
  '--dereference',
  '--blocking-factor=1',
];
const theFile = ['--directory=/proc/self/fd', '3'];

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('error', () => {
      resolve();
    });
    child.on('close', () => {
      resolve();
    });
  });
}

async function readMap(output: AsyncIterable<Buffer>, map: SparseMapReader): Promise<readonly DataRange[] | undefined> {
  for await (const chunk of output) {
    const answer = map.push(chunk);
    if (answer !== undefined) return answer.ranges;
  }
  return undefined;
}
