import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

import { type SnapRun, runSnap, snapBin } from '../support/cli.js';
import { fsckStrict, refsOf } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

/** What the built command does when a save is large enough for threads that deflate. */

test('a large save is helped by threads, which it finds where it is installed, and ends', async () => {
  const { dataDir, run } = await savedLarge();
  expect({ code: run.code, timedOut: run.timedOut }).toEqual({ code: 0, timedOut: false });
  expect(run.stderr).toContain('thread online\n');
  expect(run.stderr).toContain('thread exit\n');
  expect(run.stderr).not.toContain('thread error');
  expect(fsckStrict(dataDir)).toEqual([]);
});

test('the threads of the library and of the command are both there', () => {
  for (const folder of ['cli', 'git/pack']) {
    expect(existsSync(join(snapBin, '../../dist', folder, 'deflate-worker.js'))).toBe(true);
  }
});

test('a thread that is lost costs no content', async () => {
  const { dataDir, run } = await savedLarge('worker.terminate();');
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('thread exit\n');
  expect(fsckStrict(dataDir)).toEqual([]);
  const verified = await runSnap(['verify', '--full'], { dataDir });
  expect(verified.code).toBe(0);
});

test('an interrupted save ends its threads and leaves nothing', async () => {
  const { dataDir, run } = await savedLarge(`process.kill(process.pid, 'SIGINT');`);
  expect({ code: run.code, timedOut: run.timedOut }).toEqual({ code: 130, timedOut: false });
  expect(run.stderr).toContain('thread exit\n');
  expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
  expect(readdirSync(join(dataDir, 'store.git/objects/pack'))).toEqual([]);
  expect([...refsOf(join(dataDir, 'store.git')).keys()]).toEqual([]);
});

/** Saves some 40 MiB in small files. `onThread` is done in the process of the save once a thread runs. */
async function savedLarge(onThread = ''): Promise<{ dataDir: string; run: SnapRun }> {
  const area = tempDir();
  const mount = join(area, 'mount');
  for (let folder = 0; folder < 50; folder++) {
    mkdirSync(join(mount, String(folder)), { recursive: true });
    for (let file = 0; file < 100; file++) {
      writeFileSync(join(mount, String(folder), String(file)), Buffer.alloc(8192, randomBytes(64)));
    }
  }
  const watching = join(area, 'watching.mjs');
  writeFileSync(
    watching,
    `const say = (what) => process.stderr.write('thread ' + what + '\\n');
    process.on('worker', (worker) => {
      worker.once('online', () => { say('online'); ${onThread} });
      worker.on('error', (error) => say('error ' + error.message));
      worker.on('exit', () => say('exit'));
    });`,
  );
  const dataDir = join(area, 'data');
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(watching).href}` };
  return { dataDir, run: await runSnap(['save', mount], { dataDir, env }) };
}
