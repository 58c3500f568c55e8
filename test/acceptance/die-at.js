import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/*
 * Loaded into the program by `--import`: kills it just before its n-th change below a folder, whatever that change is.
 *
 *   DIE_BELOW  the folder, a real path      DIE_AT  n, from 1; 0: never
 *   DIE_LOG    a file that gets a line for each change
 */

const { DIE_BELOW: below = '', DIE_AT: at = '0', DIE_LOG: log } = process.env;
let changes = 0;
const append = fs.appendFileSync;

const changing = {
  openSync: ([path, flags = 'r']) => {
    const creates = typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : flags !== 'r';
    return creates && path;
  },
  writeFileSync: ([file]) => file,
  truncateSync: ([path]) => path,
  rmSync: ([path]) => path,
  writeSync: ([fd]) => fd,
  ftruncateSync: ([fd]) => fd,
  fchmodSync: ([fd]) => fd,
  fchownSync: ([fd]) => fd,
  chmodSync: ([path]) => path,
  lchownSync: ([path]) => path,
  linkSync: ([, path]) => path,
  renameSync: ([, path]) => path,
  symlinkSync: ([, path]) => path,
  mkdirSync: ([path]) => path,
  rmdirSync: ([path]) => path,
  unlinkSync: ([path]) => path,
  utimesSync: ([path]) => path,
};

for (const [name, targetOf] of Object.entries(changing)) {
  const original = fs[name];
  fs[name] = (...args) => {
    const target = targetOf(args);
    if (target !== false) count(name, realPlace(target));
    return original(...args);
  };
}
syncBuiltinESMExports();

function count(name, place) {
  if (place !== below && !place.startsWith(`${below}/`)) return;
  changes += 1;
  if (log !== undefined) append(log, `${name} ${place.slice(below.length + 1)}\n`);
  if (changes === Number(at)) process.kill(process.pid, 'SIGKILL');
}

/** The program names what it changes by descriptors, or by paths that begin at one. */
function realPlace(target) {
  const path = typeof target === 'number' ? `/proc/self/fd/${target}` : String(target);
  const [, descriptor, rest = ''] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/s.exec(path) ?? [];
  return descriptor === undefined ? path : fs.readlinkSync(`/proc/self/fd/${descriptor}`) + rest;
}
