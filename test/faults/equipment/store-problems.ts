import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fsckStrict, storeGit } from '../../support/store-git.js';
import { walkTree } from '../../support/walk.js';
import type { Area } from './area.js';

// What stock git, and nothing of the program, finds in a store.

const snapshotRef = /^refs\/jackin\/([^/]+)\/(\d+)$/;

/** The snapshots by ref, with their commits. Where there is no repository yet, none. */
export function refsIn(dataDir: string): Map<string, string> {
  if (!existsSync(join(dataDir, 'store.git', 'HEAD'))) return new Map();
  const format = '--format=%(refname) %(objectname)';
  const { code, stdout } = storeGit(dataDir, ['for-each-ref', format, 'refs/jackin'], { mayFail: true });
  if (code !== 0) return new Map();
  const lines = stdout.split('\n').map((line) => line.split(' ') as [string, string]);
  return new Map(lines.filter(([ref]) => snapshotRef.test(ref)));
}

export function seqOf(ref: string): number {
  return Number(snapshotRef.exec(ref)?.[2]);
}

/** The store is sound, and what was reported as saved is there, whole, under the same id. */
export function storeProblems(
  dataDir: string,
  reported: ReadonlyMap<string, string>,
  mayGo: readonly number[] = [],
): string[] {
  const found = refsIn(dataDir);
  if (found.size === 0 && reported.size === 0) return [];
  const lost = [...reported].flatMap(([ref, commit]) => {
    const now = found.get(ref);
    if (now === commit || (now === undefined && mayGo.includes(seqOf(ref)))) return [];
    return [`${ref} was ${commit} and is ${now ?? 'gone'}`];
  });
  const walk = storeGit(dataDir, ['--no-replace-objects', 'rev-list', '--objects', '--quiet', '--stdin'], {
    stdin: `${[...found.values()].join('\n')}\n`,
    mayFail: true,
  });
  return [
    ...lost,
    ...(walk.code === 0 ? [] : [`git rev-list: ${walk.stderr.slice(0, 300)}`]),
    ...fsckStrict(dataDir).map((line) => `git fsck: ${line}`),
  ];
}

/** Paths whose content in a snapshot is not that of the mount, as stock git lists the one and a walk finds the other. */
export function differingPaths(area: Area, commit: string): string[] {
  const wanted = blobsOf(area.mount);
  const listing = storeGit(area.dataDir, ['--no-replace-objects', 'ls-tree', '-r', '-z', '--full-tree', commit]);
  const lines = listing.stdoutBytes.toString('latin1').split('\0');
  const found = new Map(
    lines.flatMap((line) => {
      const [, mode, blob, path] = /^(\d+) \w+ (\w+)\tmounts\/[^/]+\/(.*)$/s.exec(line) ?? [];
      return path === undefined ? [] : [[path, `${mode} ${blob}`] as const];
    }),
  );
  const paths = new Set([...wanted.keys(), ...found.keys()]);
  return [...paths].filter((path) => wanted.get(path) !== found.get(path));
}

function blobsOf(mount: string): Map<string, string> {
  const blobs = walkTree(mount, { hash: false }).flatMap(({ path, type, mode, target }): [string, string][] => {
    if (type === 'symlink') return [[path, `120000 ${blobId(Buffer.from(target ?? '', 'latin1'))}`]];
    if (type !== 'file') return [];
    const content = readFileSync(Buffer.from(join(mount, path), 'latin1'));
    return [[path, `${mode & 0o100 ? '100755' : '100644'} ${blobId(content)}`]];
  });
  return new Map(blobs);
}

function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** What nobody needs and should be gone: locks, temporary files, staging, journals; and what others could read. */
export function leftovers(area: Area): string[] {
  const left = walkTree(area.dataDir, { hash: false, withRoot: true }).flatMap(({ path, type, mode }) => {
    // git makes a directory of refs and closes it then; the data directory is closed, and so is all in it.
    const isClosed = /objects\/.*\.(pack|idx|midx|bitmap|rev)$/.test(path) || (type === 'directory' && isOfRefs(path));
    const open = (mode & 0o077) !== 0 && !isClosed;
    const temporary =
      /^(tmp|journals)\/./.test(path) || /(^|\/)(tmp_|\.tmp-)|\.(new|part)$/.test(path) || isLock(path, type);
    return [
      ...(temporary ? [`${path} is left`] : []),
      ...(open && type !== 'symlink' ? [`${path} is open to others`] : []),
    ];
  });
  const staged = walkTree(area.mount, { hash: false }).filter(({ path }) => path.includes('.jackin-'));
  return [...left, ...staged.map(({ path }) => `${path} is left in the mount`)];
}

function isOfRefs(path: string): boolean {
  return path.startsWith('store.git/refs/');
}

function isLock(path: string, type: string): boolean {
  return type === 'file' && path.startsWith('store.git/') && path.endsWith('.lock');
}
