// Swaps paths of a folder for others, over and over, as fast as it can: flip.js MOUNT OUTSIDE AWAY. Ends with SIGTERM
// or when its stdin closes, and leaves the folder as it was.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const [mount, outside, away] = process.argv.slice(2);
const pipe = join(away, 'pipe');
if (!existsSync(pipe)) spawnSync('mkfifo', ['-m', '600', pipe]);

const swaps = [
  { path: 'd', put: (there) => symlinkSync(join(outside, 'd'), there), take: unlinkSync },
  { path: 'd/e', put: (there) => symlinkSync(join(outside, 'd/e'), there), take: unlinkSync },
  { path: 'd/e/one', put: (there) => symlinkSync(join(outside, 'd/e/one'), there), take: unlinkSync },
  { path: 'd/e/two', put: (there) => renameSync(pipe, there), take: (there) => renameSync(there, pipe) },
];

let flips = 0;
let ending = false;
process.on('SIGTERM', () => (ending = true));
process.stdin.on('end', () => (ending = true)).resume();
process.stdout.write('ready\n');
flipOn();

function flipOn() {
  for (let count = 0; count < 50; count += 1) flip(swaps[(flips += 1) % swaps.length]);
  if (!ending) setImmediate(flipOn);
  else process.stdout.write(`${flips}\n`, () => process.exit(0));
}

// The program may be quicker and have taken or made a path meanwhile: then that flip is lost.
function flip({ path, put, take }) {
  const there = join(mount, path);
  const kept = join(away, 'kept');
  try {
    renameSync(there, kept);
  } catch {
    return;
  }
  attempt(() => {
    put(there);
    take(there);
  });
  attempt(() => renameSync(kept, there));
}

function attempt(act) {
  try {
    act();
  } catch (error) {
    if (!['ENOENT', 'EEXIST', 'ENOTEMPTY', 'EISDIR', 'ENOTDIR'].includes(error.code)) throw error;
  }
}
