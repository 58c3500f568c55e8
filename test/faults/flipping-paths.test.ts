import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { runSnap } from '../support/cli.js';
import { compareTrees } from '../support/compare.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { file } from '../support/tree-plan.js';
import { writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';

// Another process swaps folders for links and files for pipes all the time, thousands of times a second, while saves and
// restores run. Luck decides what they meet; nothing outside may ever be read, written or deleted, and nothing waits.

const canary = 'CANARY-of-a-file-outside';
const paths = ['d/e/one', 'd/e/two', 'd/e/three', 'd/f/one', 'd/f/two', 'top'];
const inside: TreeSpec = paths.map((path) => file(path, `${path}\n`));
const outside: TreeSpec = [...paths, 'd/canary-name', 'd/e/canary-name', 'd/f/canary-name'].map((path) =>
  file(path, `${canary} ${path}\n`),
);

test('saves and restores beside one who swaps paths without pause', async () => {
  const area = tempDir();
  const at = (name: string): string => join(area, name);
  const options = { dataDir: at('data'), cwd: at('mount'), timeout: 60_000 };
  await buildTree(at('mount'), inside);
  await buildTree(at('outside'), outside);
  mkdirSync(at('away'));
  expect((await runSnap(['save'], options)).code).toBe(0);
  const saved = walkTree(at('mount'));
  const before = walkTree(at('outside'), { withRoot: true });

  const stop = await startFlipping(at('mount'), at('outside'), at('away'));
  const codes: (number | null)[] = [];
  for (let round = 0; round < 12; round += 1) {
    writeFiles(at('mount'), { top: `round ${round}\n` });
    codes.push((await runSnap(['save', '--full'], options)).code);
    codes.push((await runSnap(['restore', '1', '--yes'], options)).code);
  }
  expect(await stop()).toBeGreaterThan(100);

  // Done, done in part, refused, or to be tried again; never a bug, never a program that hangs.
  expect(codes.filter((code) => code === null || ![0, 4, 6].includes(code))).toEqual([]);
  const also = { also: ['ino', 'mtimeNs', 'ctimeNs', 'nlink'] as const };
  expect(compareTrees(before, walkTree(at('outside'), { withRoot: true }), also)).toEqual([]);
  const objects = storeGit(at('data'), ['cat-file', '--batch-all-objects', '--batch', '--unordered']).stdoutBytes;
  expect(objects.includes(canary)).toBe(false);
  expect(objects.includes('canary-name')).toBe(false);
  expect(fsckStrict(at('data'))).toEqual([]);

  const last = await runSnap(['restore', '1', '--yes'], options);
  expect(last.code, last.stderr).toBe(0);
  expect(compareTrees(saved, walkTree(at('mount')))).toEqual([]);
});

/** Answers how to end it: then the folder holds what it had, and it is told how many swaps were tried. */
async function startFlipping(mount: string, out: string, away: string): Promise<() => Promise<number>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'flip.js'), mount, out, away], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let said = '';
  await new Promise<void>((ready) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('ready')) ready();
    });
  });
  return async () => {
    const ended = new Promise((done) => child.once('close', done));
    child.stdin.end();
    await ended;
    return Number(said.split('\n')[1]);
  };
}
