import { displayPath, pathFromJson } from '../../core/entry-path.js';
import type { GitState, HeadState, StashState } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import { SnapError } from '../../errors.js';
import { type WrittenEntry, encodeIndexFile } from './encode-index.js';
import { removeFileIfThere } from './entries-of-directory.js';
import type { GuardedDirectory } from './guarded-directory.js';
import {
  appendIfThere,
  inDirectoryOf,
  removeEmptyDirectories,
  removeLocked,
  replaceLocked,
} from './guarded-writing.js';
import { packedClash, readHead, resolveRef } from './refs.js';

/*
 * Refs, HEAD, index and stashes as git keeps them in files.
 */

export const noObject: string = '0'.repeat(40);

/** Who did it, when and what, for reflogs. */
export interface ReflogNote {
  readonly seconds: number;
  readonly message: string;
}

/** `from` is what must be there; null: nothing. `to` null removes. @throws SnapError GIT_STATE_REFUSED when it is not */
export function moveRef(
  commonDir: GuardedDirectory,
  ref: string,
  { from, to }: { readonly from: ObjectId | null; readonly to: ObjectId | null },
  note: ReflogNote,
): void {
  const check = (): void => {
    const now = resolveRef(commonDir, commonDir, ref);
    if (now.kind === 'unreadable') throw refused(ref, now.why);
    const value = now.kind === 'read' ? now.value : null;
    if (value !== from && value !== to) throw refused(ref, 'it was changed meanwhile');
  };
  if (to === null) {
    if (isPacked(commonDir, ref)) throw refused(ref, 'it is among the packed refs');
    removeLocked(commonDir, ref, check);
    if (commonDir.exists(`logs/${ref}`)) inDirectoryOf(commonDir, `logs/${ref}`, removeFileIfThere);
    return;
  }
  const refuse = (): void => {
    if (from === null) refuseClash(commonDir, ref);
  };
  // Already before a directory is made for it.
  refuse();
  removeEmptyDirectories(commonDir, ref);
  replaceLocked(commonDir, ref, `${to}\n`, () => {
    check();
    refuse();
  });
  appendIfThere(commonDir, `logs/${ref}`, reflogLine(from ?? noObject, to, note));
}

/** Refs that are files clash as such. */
function refuseClash(commonDir: GuardedDirectory, ref: string): void {
  const other = packedClash(commonDir, ref);
  if (other !== undefined) throw refused(ref, `${displayPath(other)} is in its way`);
}

function isPacked(commonDir: GuardedDirectory, ref: string): boolean {
  const packed = commonDir.read('packed-refs', 256 * 1024 * 1024);
  if (packed.kind === 'absent') return false;
  return packed.kind === 'unreadable' || packed.value.includes(` ${ref}\n`, 0, 'latin1');
}

function reflogLine(from: string, to: string, { seconds, message }: ReflogNote): string {
  return `${from} ${to} jackin-snap <jackin-snap@localhost> ${String(seconds)} +0000\t${message}\n`;
}

export interface HeadMove {
  readonly from: HeadState | null;
  readonly to: HeadState;
  /** The commits that these came to. */
  readonly commits: { readonly from: ObjectId | null; readonly to: ObjectId | null };
}

export function moveHead(gitDir: GuardedDirectory, { from, to, commits }: HeadMove, note: ReflogNote): void {
  const content = 'branch' in to ? `ref: refs/heads/${pathFromJson(to.branch)}\n` : `${to.commit}\n`;
  replaceLocked(gitDir, 'HEAD', content, () => {
    const now = readHead(gitDir);
    if (now.kind === 'unreadable') throw refused('HEAD', now.why);
    const text = now.kind === 'absent' ? null : 'ref' in now.value ? now.value.ref : now.value.oid;
    if (text !== textOf(from) && text !== textOf(to)) throw refused('HEAD', 'it was changed meanwhile');
  });
  if (commits.to !== null) appendIfThere(gitDir, 'logs/HEAD', reflogLine(commits.from ?? noObject, commits.to, note));
}

function textOf(head: HeadState | null): string | null {
  if (head === null) return null;
  return 'branch' in head ? `refs/heads/${pathFromJson(head.branch)}` : head.commit;
}

/** The stashes are the reflog of a ref. @param stashes newest first */
export function writeStashes(commonDir: GuardedDirectory, stashes: readonly StashState[]): void {
  const [newest] = stashes;
  if (newest === undefined) {
    if (isPacked(commonDir, 'refs/stash')) throw refused('refs/stash', 'it is among the packed refs');
    removeLocked(commonDir, 'refs/stash', () => {
      inDirectoryOf(commonDir, 'logs/refs/stash', removeFileIfThere);
    });
    return;
  }
  let before = noObject;
  const lines = stashes.toReversed().map(({ commit, who, message }) => {
    const line = `${before} ${commit} ${oneLine(pathFromJson(who))}\t${oneLine(pathFromJson(message))}\n`;
    before = commit;
    return line;
  });
  replaceLocked(commonDir, 'refs/stash', `${newest.commit}\n`, () => {
    replaceLocked(commonDir, 'logs/refs/stash', lines.join(''));
  });
}

function oneLine(text: string): string {
  return text.replace(/[\n\r\0]/g, ' ');
}

export function writeIndex(gitDir: GuardedDirectory, entries: readonly WrittenEntry[]): void {
  replaceLocked(gitDir, 'index', encodeIndexFile(entries));
}

/** The least that a repository needs: where its remotes are, and what its branches follow. */
export function configText({ remotes, branches }: Pick<GitState, 'remotes' | 'branches'>): string {
  const core = [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tfilemode = true',
    '\tbare = false',
    '\tlogallrefupdates = true',
  ];
  const ofRemotes = remotes.flatMap(({ name, url }) => {
    const remote = pathFromJson(name);
    if (/[\n\0]/.test(remote)) return [];
    return [
      `[remote ${quoted(remote)}]`,
      `\turl = ${quoted(pathFromJson(url))}`,
      `\tfetch = ${quoted(`+refs/heads/*:refs/remotes/${remote}/*`)}`,
    ];
  });
  const ofBranches = branches.flatMap(({ name, upstream }) =>
    upstream === null
      ? []
      : [
          `[branch ${quoted(pathFromJson(name))}]`,
          `\tremote = ${quoted(pathFromJson(upstream.remote))}`,
          `\tmerge = ${quoted(pathFromJson(upstream.merge))}`,
        ],
  );
  return [...core, ...ofRemotes, ...ofBranches, ''].join('\n');
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

function refused(path: string, why: string): SnapError<'GIT_STATE_REFUSED'> {
  return new SnapError('GIT_STATE_REFUSED', `${JSON.stringify(path)} in the repository stays as it is: ${why}.`, {
    path,
    why,
  });
}
