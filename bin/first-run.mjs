import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { installMissing } from './install.mjs';

const cannotStart = 9;
const root = join(import.meta.dirname, '..');

/**
 * Installs and builds a fresh checkout, once: whoever comes second waits for the first and finds the work done.
 * Says what is wrong, sets the exit code and returns false if that cannot be done.
 */
export async function makeReady(command) {
  if (!existsSync(join(root, 'src')) || !existsSync(join(root, 'tsconfig.build.json'))) {
    return refuse('this installation is incomplete: dist/ is missing. Install the package again.');
  }
  try {
    await whileLocked(async () => {
      if (existsSync(command)) return;
      say('first start in this checkout: installing and building, once.');
      installMissing(root);
      await build(root);
    });
    return true;
  } catch (error) {
    return refuse(
      `${error.message}\nThe checkout must be built before it runs:\n\n    cd ${JSON.stringify(root)} && npm ci && npm run build\n`,
    );
  }
}

function refuse(text) {
  say(text);
  process.exitCode = cannotStart;
  return false;
}

async function whileLocked(work) {
  const lock = openSync(join(root, '.dist-lock'), 'a');
  try {
    // The lock belongs to the open file, which this process keeps; it ends with the process, however that ends.
    const { error, status } = spawnSync('flock', ['3'], { stdio: ['ignore', 2, 2, lock] });
    if (error?.code !== 'ENOENT' && status !== 0) throw new Error('the checkout cannot be locked.', { cause: error });
    await work();
  } finally {
    closeSync(lock);
  }
}

function say(text) {
  process.stderr.write(`jackin-snap: ${text}\n`);
}
