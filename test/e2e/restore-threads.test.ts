import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { type SnapRun, runSnap, snapBin } from '../support/cli.js';
import { compareTrees } from '../support/compare.js';
import { tempDir } from '../support/temp.js';
import { type TreeEntry, walkTree } from '../support/walk.js';

/** What the built command does when a restore is large enough for threads that make and check files. */

test('the threads of the library and of the command are both there', () => {
  for (const folder of ['cli', 'threads'])
    expect(existsSync(join(snapBin, '../../dist', folder, 'restore-worker.js'))).toBe(true);
});

test('a large restore is helped by threads, and all comes back', async () => {
  const scene = await emptied();
  const run = await scene.restore();
  expect({ code: run.code, timedOut: run.timedOut }).toEqual({ code: 0, timedOut: false });
  expect(run.stderr).toContain('thread online\n');
  expect(run.stderr).not.toContain('thread error');
  expect(scene.differences()).toEqual([]);
  const undone = await runSnap(['undo', '--yes', '--allow-large'], { dataDir: scene.dataDir, cwd: scene.mount });
  expect([undone.code, readdirSync(scene.mount)]).toEqual([0, []]);
});

test('what lies in packs as deltas comes back, too', async () => {
  const scene = await emptied();
  const gc = await runSnap(['gc'], { dataDir: scene.dataDir });
  expect(gc.code).toBe(0);
  expect((await scene.restore()).code).toBe(0);
  expect(scene.differences()).toEqual([]);
});

test.each([
  { when: 'at once', onThread: 'worker.terminate();' },
  { when: 'amid its work', onThread: 'setTimeout(() => worker.terminate(), 120);' },
])('a thread that is lost $when costs nothing', async ({ onThread }) => {
  const scene = await emptied();
  const run = await scene.restore(onThread);
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('thread exit\n');
  expect(scene.differences()).toEqual([]);
});

test('an interrupted restore ends its threads, leaves nothing half-done, and is finished later', async () => {
  const scene = await emptied();
  // Once: a second thread may come late, and a second SIGINT ends the process at once.
  const run = await scene.restore(`globalThis.sent ??= setTimeout(() => process.kill(process.pid, 'SIGINT'), 100);`);
  expect({ code: run.code, timedOut: run.timedOut }).toEqual({ code: 130, timedOut: false });
  expect(readdirSync(scene.mount).filter((name) => name.startsWith('.jackin'))).toEqual([]);
  const recovered = await runSnap(['recover', '--continue', '--yes'], { dataDir: scene.dataDir, cwd: scene.mount });
  expect([recovered.code, scene.differences()]).toEqual([0, []]);
});

describe.each([10, 60, 150, 300, 500])('killed %i ms after its threads started, a restore', (after) => {
  test.each(['--continue', '--abort'])('is led to an end by recover %s', async (way) => {
    const scene = await emptied();
    const run = await scene.restore(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${after});`);
    const recovered = await runSnap(['recover', way, '--yes'], { dataDir: scene.dataDir, cwd: scene.mount });
    expect(run.timedOut).toBe(false);
    // It may have been done before.
    if (run.code !== 0) expect([recovered.code, recovered.stderr]).toEqual([0, expect.any(String)]);
    if (run.code !== 0 && way === '--abort') expect(readdirSync(scene.mount)).toEqual([]);
    else expect(scene.differences()).toEqual([]);
  });
});

interface Scene {
  readonly dataDir: string;
  readonly mount: string;
  restore(onThread?: string): Promise<SnapRun>;
  differences(): string[];
}

/** A folder of some thousand files that was saved and then emptied. */
async function emptied(): Promise<Scene> {
  const area = tempDir();
  const mount = join(area, 'mount');
  fill(mount);
  const dataDir = join(area, 'data');
  const saved = await runSnap(['save', mount], { dataDir });
  expect(saved.code).toBe(0);
  const before: TreeEntry[] = walkTree(mount);
  for (const name of readdirSync(mount)) rmSync(join(mount, name), { recursive: true });
  return {
    dataDir,
    mount,
    restore: (onThread = '') => {
      const watching = join(area, 'watching.mjs');
      writeFileSync(watching, watcher(onThread));
      const env = { NODE_OPTIONS: `--import ${pathToFileURL(watching).href}` };
      return runSnap(['restore', '1', '--yes'], { dataDir, cwd: mount, env });
    },
    differences: () => compareTrees(before, walkTree(mount)),
  };
}

/** Files of all kinds: small and large, alike, private, read-only, executable, linked, and with bytes in their names. */
function fill(mount: string): void {
  const common = randomBytes(3000).toString('hex');
  for (let folder = 0; folder < 40; folder++) {
    const path = join(mount, `d${folder % 7}`, `é${folder}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 60; file++) writeFileSync(join(path, `f${file}`), `${common}${folder * (file % 50)}`);
    chmodSync(join(path, 'f1'), 0o600);
    chmodSync(join(path, 'f2'), 0o444);
    chmodSync(join(path, 'f3'), 0o4711);
    linkSync(join(path, 'f4'), join(path, 'g4'));
    symlinkSync('f1', join(path, 'link'));
  }
  writeFileSync(join(mount, 'empty'), '');
  writeFileSync(join(mount, 'd1', 'empty'), '');
  writeFileSync(join(mount, 'd1', 'large'), randomBytes(3 * 1024 * 1024));
  chmodSync(join(mount, 'd2'), 0o555);
}

function watcher(onThread: string): string {
  return `const say = (what) => process.stderr.write('thread ' + what + '\\n');
    process.on('worker', (worker) => {
      worker.once('online', () => { say('online'); ${onThread} });
      worker.on('error', (error) => say('error ' + error.message));
      worker.on('exit', () => say('exit'));
    });`;
}
