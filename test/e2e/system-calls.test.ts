import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildThreeClones } from '../../fixtures/trees/three-clones.js';
import { buildTree } from '../support/build-tree.js';
import { treeFingerprint } from '../support/compare.js';
import { tempDir } from '../support/temp.js';
import { writeFiles } from '../support/user-git.js';
import { worstTree } from '../support/worst-tree.js';
import type { SystemCall } from './system-calls.js';
import { canTrace, changesOutside, foreignPrograms, traceSnap } from './system-calls.js';
import { plantTraps } from './traps.js';

interface Place {
  readonly area: string;
  readonly mount: string;
  readonly dataDir: string;
  readonly marker: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Clones with dirty files, filters and hooks, the worst names, and traps wherever a program could be named. */
async function hostilePlace(): Promise<Place> {
  const area = tempDir('calls');
  const { folder, marker } = buildThreeClones(area);
  await buildTree(join(folder, 'worst'), worstTree());
  const home = join(area, 'home');
  mkdirSync(home);
  const env = plantTraps(folder, home, marker);
  return { area, mount: folder, dataDir: join(area, 'data'), marker, env };
}

describe.skipIf(!canTrace())('seen from the kernel', () => {
  test('a save changes nothing outside the data directory', async () => {
    const place = await hostilePlace();
    const before = treeFingerprint(place.mount);
    for (const args of [['save'], ['save', '--full'], ['save', '--if-changed', '-m', 'x']]) {
      const { run, calls } = traced(place, args);
      expect(run.code, run.stderr).toBe(0);
      expect(changesOutside(calls, join(place.dataDir, 'store.git')), 'the trace sees changes').not.toEqual([]);
      expect(changesOutside(calls, place.dataDir)).toEqual([]);
      expect(foreignPrograms(calls)).toEqual([]);
    }
    expect(treeFingerprint(place.mount)).toBe(before);
    expect(existsSync(place.marker)).toBe(false);
  });

  test('no command starts a program but node, git, those that lock and sync, and those that look change nothing', async () => {
    const place = await hostilePlace();
    const problems: string[] = [];
    const see = (args: readonly string[], more: readonly string[] = []): SystemCall[] => {
      const { run, calls } = traced(place, args);
      if (run.code !== 0) problems.push(`${args.join(' ')} ended with ${run.code}: ${run.stderr}`);
      const expected = writing.has(args[0]!) ? [...more, ...syncPrograms] : more;
      for (const program of foreignPrograms(calls, expected)) problems.push(`${args.join(' ')} started ${program}`);
      const looks = looking.has(args[0]!) || args.includes('--dry-run');
      if (looks) problems.push(...changesOutside(calls, place.dataDir).map((what) => `${args.join(' ')}: ${what}`));
      return calls;
    };
    see(['save']);
    change(place.mount);
    see(['save', '--full']);
    for (const line of lookCommands) see(line.split(' '));
    for (const name of ['exported', 'exported.tar', 'exported.tar.gz']) see(['export', '1', join(place.area, name)]);
    const restoring = see(['restore', '1', '--yes']);
    expect(changesOutside(restoring, place.dataDir), 'the trace sees a restore').not.toEqual([]);
    see(['undo', '--yes']);
    for (const line of keepCommands) see(line.split(' '));
    see(['run', '--', '/bin/true'], ['/bin/true']);
    see(['restore', 'first', '--force', '--yes']);
    see(['instance', 'close']);

    expect(problems).toEqual([]);
    expect(existsSync(place.marker)).toBe(false);
  });
});

const looking = new Set(['save', 'list', 'show', 'diff', 'log', 'cat', 'tree', 'verify', 'doctor']);

/** What writes many files has the system sync them together. */
const writing = new Set(['export', 'restore', 'undo']);
const syncPrograms = ['sync'];

const lookCommands = [
  ...['list', 'list --all', 'show 1', 'show latest --json', 'tree 1', 'cat 1 -- notes.md'],
  ...['diff 1 2', 'diff 1', 'diff 1 2 --stat', 'diff 1 --word-diff -- app', 'log', 'log -p', 'log --stat -- service'],
  ...['verify', 'verify --full', 'doctor', 'restore 1 --dry-run'],
];

const keepCommands = [
  ...['pin 1', 'unpin 1', 'delete 2 --dry-run', 'delete 2 --yes', 'prune --dry-run', 'prune --yes', 'gc'],
  ...['instance list', 'instance show', 'instance set keep_last=3', 'instance activate', 'instance deactivate'],
];

function traced({ area, mount, dataDir, env }: Place, args: readonly string[]): ReturnType<typeof traceSnap> {
  return traceSnap(['--data-dir', dataDir, ...args], { area, cwd: mount, home: join(area, 'home'), env });
}

function change(mount: string): void {
  writeFiles(mount, { 'app/README.md': 'changed\n', 'notes.md': 'changed\n', 'service/new.bin': 'new\n' });
}

beforeAll(() => {
  if (!canTrace()) process.stderr.write('strace cannot run here: system calls are not looked at.\n');
});
