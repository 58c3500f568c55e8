import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { canary, homeSecrets, homeTree } from '../../fixtures/trees/home.js';
import { buildThreeClones } from '../../fixtures/trees/three-clones.js';
import { buildTree } from '../support/build-tree.js';
import { toBytes } from '../support/bytes.js';
import { runSnap, runSnapJson } from '../support/cli.js';
import { compareTrees } from '../support/compare.js';
import { reach } from '../support/reach.js';
import { testSeed } from '../support/seed.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import type { TreeEntry } from '../support/walk.js';
import { walkTree } from '../support/walk.js';
import { worstTree } from '../support/worst-tree.js';
import { expectSound, roundTrip } from './round-trip.js';

const checkout = resolve(import.meta.dirname, '../..');

interface Area {
  readonly area: string;
  readonly dataDir: string;
  readonly folder: string;
}

function newArea(name: string): Area {
  const area = tempDir();
  return { area, dataDir: join(area, 'data'), folder: join(area, name) };
}

/** `.git` of a submodule or worktree: whoever turns it into a directory makes a place that no restore may clear. */
function isGitFile(path: string): boolean {
  return path === '.git' || path.endsWith('/.git');
}

test('the checkout of this project: what its stack can make again stays out, all else comes back', async () => {
  const { dataDir, folder } = newArea('project');
  copyCheckout(folder);
  const { data } = await roundTrip({ dataDir, folder, seed: testSeed(), protect: isGitFile });
  expect(data.observed_only).toContainEqual(expect.objectContaining({ path: 'node_modules' }));
  expect(data.stats.files_stored).toBeGreaterThan(200);
  await expectSound(dataDir);
});

test('the checkout of this project, with everything in it', async () => {
  const { dataDir, folder } = newArea('project');
  copyCheckout(folder);
  await runSnapJson(['save', '--path', 'package.json'], { dataDir, cwd: folder });
  const settings = ['stacks=false', 'gitignore=false', 'include_secrets=true'];
  expect((await runSnap(['instance', 'set', ...settings], { dataDir, cwd: folder })).code).toBe(0);

  const { data } = await roundTrip({ dataDir, folder, seed: testSeed(), rounds: 200, protect: isGitFile });
  expect(data.observed_only.filter(({ reason }: { reason: string }) => reason !== 'git_dir')).toEqual([]);
  expect(data.stats.files_stored).toBeGreaterThan(5000);
  await expectSound(dataDir);
});

test('a plain folder of three clones, a submodule and a linked worktree', async () => {
  const { area, dataDir } = newArea('');
  const { folder, marker } = buildThreeClones(area);
  const repositories = (): TreeEntry[] =>
    walkTree(folder).filter(({ path }) => /^(app|docs|service)\/\.git\//.test(path));
  const before = repositories();
  const { data } = await roundTrip({ dataDir, folder, seed: testSeed(), protect: isGitFile });

  expect(data.observed_only).toContainEqual(expect.objectContaining({ path: 'app/dist', reason: 'ignored' }));
  expect(data.observed_only).toContainEqual(expect.objectContaining({ path: 'app/.git', reason: 'git_dir' }));
  expect(compareTrees(before, repositories(), { also: ['ino', 'mtimeNs', 'ctimeNs'] })).toEqual([]);
  expect(existsSync(marker)).toBe(false);
  await expectSound(dataDir);
});

test('a folder of worst-case names, links, modes and depths', async () => {
  const { dataDir, folder } = newArea('worst');
  await buildTree(folder, worstTree());
  const { data } = await roundTrip({ dataDir, folder, seed: testSeed(), rounds: 150, protect: isGitFile });
  expect(new Set(data.observed_only.map(({ reason }: { reason: string }) => reason))).toEqual(new Set(['special']));
  await expectSound(dataDir);
});

test('a home of dotfiles: no secret reaches the data directory, or what any command prints', async () => {
  const { dataDir, folder } = newArea('somebody');
  await buildTree(folder, homeTree);
  const secrets = homeSecrets.map(({ path }) => path);
  const protect = (path: string): boolean => isGitFile(path) || secrets.includes(path);
  const { data } = await roundTrip({ dataDir, folder, seed: testSeed(), protect });
  expect(data.observed_only.length).toBeGreaterThan(15);

  const options = { dataDir, cwd: folder };
  for (const command of [
    ['list'],
    ['show', '1'],
    ['tree', '1'],
    ['diff', '1', '2'],
    ['diff', '1'],
    ['log', '-p'],
    ['restore', '1', '--dry-run'],
    ['doctor'],
  ]) {
    const { code, stdout, stderr } = await runSnap(command, options);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain(canary);
  }
  expectNowhere(dataDir, canary);
  await expectSound(dataDir);
});

/** The text is in no object of the store, packed or not, and in no other file of the data directory. */
function expectNowhere(dataDir: string, text: string): void {
  const objects = storeGit(dataDir, ['cat-file', '--batch-all-objects', '--batch', '--unordered']).stdoutBytes;
  expect(objects.length).toBeGreaterThan(1000);
  expect(objects.includes(text)).toBe(false);
  const files = walkTree(dataDir).filter(({ type }) => type === 'file');
  const holding = files.filter(({ path }) =>
    reach(dataDir, path, (hostPath) => readFileSync(hostPath)).includes(toBytes(text)),
  );
  expect(holding.map(({ path }) => path)).toEqual([]);
}

function copyCheckout(folder: string): void {
  mkdirSync(folder);
  for (const name of ['node_modules', 'src', 'test', 'fixtures', 'bin', 'docs', 'dist', '.git', '.ci']) {
    if (existsSync(join(checkout, name)))
      cpSync(join(checkout, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  for (const name of ['package.json', 'package-lock.json', 'README.md', '.gitignore', '.gitattributes', 'LICENSE']) {
    if (existsSync(join(checkout, name))) cpSync(join(checkout, name), join(folder, name));
  }
}
