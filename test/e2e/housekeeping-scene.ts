import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import { type JackinSnap, createSnap } from '../../src/index.js';
import { runSnap, runSnapJson } from '../support/cli.js';
import { compareTrees } from '../support/compare.js';
import { removeTree } from '../support/remove-tree.js';
import type { ProcessRun } from '../support/run-process.js';
import { fsckStrict } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { type TreeEntry, walkTree } from '../support/walk.js';

/** A store of many saves, and what a walker that shares no code with the program found at each of them. */
export interface ManySaves {
  readonly dataDir: string;
  readonly mount: string;
  readonly walks: ReadonlyMap<number, readonly TreeEntry[]>;
}

/** Saves a folder in which something changes each time. */
export async function saveOften(area: string, count: number): Promise<ManySaves> {
  const [mount, dataDir] = [join(area, 'mount'), join(area, 'data')];
  const walks = new Map<number, readonly TreeEntry[]>();
  for (let n = 0; n < 12; n++) {
    mkdirSync(join(mount, `d${n % 4}`), { recursive: true });
    writeFileSync(join(mount, `d${n % 4}`, `same-${n}`), `the same ${n}\n`.repeat(40));
  }
  symlinkSync('d1/same-1', join(mount, 'link'));
  writeFileSync(join(mount, '.git x'), 'a name that git forbids, nearly');
  mkdirSync(join(mount, 'empty'));
  const snap = snapOf({ dataDir, mount });
  await snap.save({});
  await snap.instance.set({ auto_prune: 'false' });
  walks.set(1, walkTree(mount, { withRoot: true }));
  for (let seq = 2; seq <= count; seq++) {
    change(mount, seq);
    const { snapshot } = await snap.save({});
    walks.set(snapshot.seq, walkTree(mount, { withRoot: true }));
  }
  return { mount, dataDir, walks };
}

export function change(mount: string, seq: number): void {
  const path = join(mount, `d${seq % 4}`, 'changing');
  if (existsSync(path)) chmodSync(path, 0o600);
  writeFileSync(path, `${seq}\n`.repeat(seq));
  chmodSync(path, seq % 3 === 0 ? 0o755 : 0o640);
}

export function snapOf({ dataDir, mount }: Pick<ManySaves, 'dataDir' | 'mount'>, path?: string): JackinSnap {
  const env = { PATH: path ?? process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  return createSnap({ dataDir, cwd: mount, instance: 'often', env });
}

/** The same once more, for a test that may harm it. */
export function copyOf({ dataDir, mount, walks }: ManySaves): ManySaves {
  const copy = join(tempDir('copy'), 'data');
  cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
  return { dataDir: copy, mount, walks };
}

/** Restores these snapshots beside, and compares them with what was there. */
export async function expectRestorable(
  saves: ManySaves,
  numbers: Iterable<number> = saves.walks.keys(),
): Promise<void> {
  const area = tempDir('restored');
  const snap = snapOf(saves);
  for (const seq of numbers) {
    const to = join(area, String(seq));
    await snap.restore({ snapshot: String(seq), to: to as HostPath, confirm: () => Promise.resolve(true) });
    const [only = ''] = readdirSync(to);
    const root = existsSync(join(to, 'd1')) ? to : join(to, only);
    expect(compareTrees(saves.walks.get(seq)!, walkTree(root, { withRoot: true })), `snapshot ${seq}`).toEqual([]);
    removeTree(to);
  }
}

export async function expectSound(saves: ManySaves): Promise<void> {
  expect(fsckStrict(saves.dataDir)).toEqual([]);
  expect(await snapOf(saves).verify({ full: true })).toMatchObject({ ok: true, damaged: [], problems: [] });
}

export function packsIn(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'store.git/objects/pack')).filter((name) => name.endsWith('.pack'));
}

export async function cli(
  saves: ManySaves,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ProcessRun> {
  return runSnap(['-i', 'often', ...args], { dataDir: saves.dataDir, cwd: saves.mount, env });
}

/** What a reader is told: list, difference and history. */
export async function toldBy(saves: ManySaves): Promise<string[]> {
  const options = { dataDir: saves.dataDir, cwd: saves.mount };
  const list = await runSnapJson(['-i', 'often', 'list'], options);
  const others = [await cli(saves, ['diff', '1', '20']), await cli(saves, ['log', '--', '--stat', '--format=%H %s'])];
  const [diff, log] = others.map(({ code, stdout }) => ({ code, stdout }));
  return [JSON.stringify(list.document.data), JSON.stringify(diff), JSON.stringify(log)];
}

/** A folder for PATH whose git does something besides: a shell script that ends with `"$git" "$@"` or the like. */
export function gitThat(script: string): string {
  const directory = tempDir('bin');
  const path = process.env['PATH'] ?? '';
  const real = path.split(':').find((entry) => existsSync(join(entry, 'git')))!;
  writeFileSync(join(directory, 'git'), `#!/bin/sh\ngit='${real}/git'\n${script}\n`, { mode: 0o755 });
  return `${directory}:${path}`;
}

/** Processes whose command line names the text. */
export function processesOf(text: string): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && pid !== String(process.pid) && commandOf(pid).includes(text),
  );
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}
