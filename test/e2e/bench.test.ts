import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { addSnapshots } from '../../bench/inputs/many-snapshots.js';
import { rowNames } from '../../bench/settings.js';
import type { SnapRun } from '../support/cli.js';
import { runSnap } from '../support/cli.js';
import type { ProcessRun } from '../support/run-process.js';
import { startProcess } from '../support/run-process.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { checkout } from '../toolchain/scratch.js';

const programs = ['git', 'flock', 'sh', 'rm', 'sync'];

test('every row is measured on tiny inputs, its outcome is right, and nothing is left behind', async () => {
  const area = tempDir();
  const json = join(area, 'figures.json');
  const before = bundles();
  const { code, stdout, stderr } = await bench(area, ['--quick', '--only', 'small,big,history', '--json', json]);
  expect(code, stderr).toBe(0);

  const { rows, goals, inputs, notes } = JSON.parse(readFileSync(json, 'utf8'));
  expect(new Set(rows.map((found: { row: string }) => found.row))).toEqual(new Set(rowNames));
  expect(inputs.map(({ name }: { name: string }) => name)).toEqual(['small', 'big', 'history', 'list']);
  for (const { row, tool, seconds, peak_memory: peak, median_bytes_added: added } of rows) {
    if (row === 'store-size') expect(added).toBeGreaterThan(0);
    else expect(Math.min(...seconds)).toBeGreaterThan(0);
    if (tool === 'jackin-snap' && row !== 'store-size') expect(peak).toBeGreaterThan(2 ** 20);
  }
  const needRestic = goals.filter(({ text }: { text: string }) => text.includes('restic'));
  expect(needRestic.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['not measured']);
  for (const { text, verdict } of goals) {
    if (!text.includes('restic')) expect(['holds', 'misses']).toContain(verdict);
    expect(stdout).toContain(text);
  }
  for (const peer of ['restic', 'borg']) expect(notes).toContain(`${peer} is not installed and was left out.`);
  expect(existsSync(join(area, 'work'))).toBe(false);
  expect(bundles()).toEqual(before);
});

test('snapshots that are written for the bench are snapshots like others', async () => {
  const mount = tempDir();
  const dataDir = join(tempDir(), 'data');
  writeFileSync(join(mount, 'file'), 'content\n');
  const snap = async (words: readonly string[]): Promise<SnapRun> => {
    const run = await runSnap(['-i', 'bench', ...words], { cwd: mount, dataDir });
    expect(run.code, run.stderr).toBe(0);
    return run;
  };
  await snap(['save']);
  addSnapshots(dataDir, 5);
  await snap(['verify', '--full']);
  await snap(['save']);
  const { snapshots } = JSON.parse((await snap(['list', '--json'])).stdout).data;
  expect(snapshots.map(({ seq }: { seq: number }) => seq)).toEqual([6, 5, 4, 3, 2, 1]);
  expect(snapshots.map(({ restorable }: { restorable: boolean }) => restorable)).toEqual(Array(6).fill(true));
  const chain = storeGit(dataDir, [
    'log',
    '--format=%(trailers:key=Jackin-Seq,valueonly,separator=%x2c)',
    'refs/jackin/bench/6',
  ]);
  expect(chain.stdout.trim().split('\n')).toEqual(['6', '5', '4', '3', '2', '1']);
});

test('growth is measured and drawn', async () => {
  const area = tempDir();
  const plot = join(area, 'growth.svg');
  const { code, stderr } = await bench(area, ['--quick', '--growth', '--plot', plot]);
  expect(code, stderr).toBe(0);
  const drawing = readFileSync(plot, 'utf8');
  expect(drawing.match(/<polyline /g)).toHaveLength(4);
  for (const label of ['jackin-snap, first save', 'git, nothing changed'])
    expect(drawing).toContain(`>${label}</text>`);
});

test.each([
  { words: ['--only', 'tiny'], says: 'not "tiny"' },
  { words: ['--work', checkout], says: 'is there already' },
])('refuses $words', async ({ words, says }) => {
  const { code, stderr } = await bench(tempDir(), words);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).toContain('Usage: npm run bench');
});

function bundles(): string[] {
  return readdirSync(checkout).filter((name) => name.startsWith('.dist-bench-'));
}

/** Runs the bench on a machine that has git, and no other peer. */
function bench(area: string, words: readonly string[]): Promise<ProcessRun> {
  const path = join(area, 'bin');
  mkdirSync(path);
  for (const program of programs) symlinkSync(whereIs(program), join(path, program));
  const work = words.includes('--work') ? [] : ['--work', join(area, 'work')];
  const given = [join(checkout, 'bench/run.js'), ...work, ...words];
  return startProcess(process.execPath, given, { cwd: area, env: { PATH: path, HOME: area }, timeout: 300_000 }).done;
}

function whereIs(program: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))!;
}
