import { dirname } from 'node:path';
import { shellWord } from '../core/command-text.js';
import type { SnapError, SnapErrorCode, SnapErrorData } from '../index.js';
import { bytesOfText, displayPath } from './library.js';
import type { NextCommand } from './next-command.js';
import { subjectHints } from './usage-hints.js';

export interface Explanation<Code extends SnapErrorCode> {
  readonly exitCode: number | ((data: SnapErrorData[Code]) => number);
  /** What to type or do next. */
  readonly hint: (data: SnapErrorData[Code], next: NextCommand) => string;
  /** The paths it is about, as bytes. */
  readonly paths?: (data: SnapErrorData[Code]) => readonly string[];
}

const signalExits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The two ways out of a restore that was interrupted. */
export const recoverCommands = (instance: string, next: NextCommand): string =>
  `Finish it with: ${next('recover --continue', instance)}; take it back with: ${next('recover --abort', instance)}`;

/** Every code has an exit code and a next step: a new one does not compile without. */
export const explanations: { readonly [Code in SnapErrorCode]: Explanation<Code> } = {
  USAGE: { exitCode: 2, hint: ({ what }, next) => subjectHints[what](next) },
  CONFIGURATION_INVALID: {
    exitCode: 2,
    hint: ({ file }, next) => `Correct ${shellPath(file)}, then check with: ${next('doctor')}`,
  },
  JACKIN_VERSION_UNKNOWN: {
    exitCode: 2,
    hint: (_, next) => `Update jackin-snap, or name the folders yourself: ${next('save --mount work=DIR', 'NAME')}`,
  },
  JACKIN_NOT_FOUND: {
    exitCode: 3,
    hint: (_, next) => `See what jackin has: ${next('instance import jackin', null)}`,
  },
  SNAPSHOTS_OFF: {
    exitCode: 4,
    hint: ({ instance }, next) =>
      `Make one by hand: ${next('save', instance)}; have them made: ${next('instance set snapshot=project', instance)}`,
  },
  SNAPSHOT_NOT_FOUND: {
    exitCode: 3,
    hint: ({ selector, instance }, next) => {
      const tooShort = /^[0-9a-z]{1,3}$/i.test(selector) && !/^[0-9]+$/.test(selector);
      const list = `See what there is: ${next('list', instance || undefined)}`;
      return tooShort ? `${list}; of an id, 4 characters or more are needed.` : list;
    },
  },
  SNAPSHOT_AMBIGUOUS: { exitCode: 2, hint: (_, next) => `Name it by its number, from: ${next('list')}` },
  SNAPSHOT_PINNED: {
    exitCode: 4,
    hint: ({ snapshot }, next) => `Take the pin away first: ${next(`unpin ${snapshot}`)}`,
  },
  INSTANCE_NOT_FOUND: {
    exitCode: 3,
    hint: ({ instance }, next) =>
      `See all instances: ${next('list --all', null)}; make this one from its folder: ${next('save', instance || undefined)}`,
  },
  INSTANCE_AMBIGUOUS: {
    exitCode: 2,
    hint: ({ candidates }) => `Choose one with -i: ${candidates.map((name) => `-i ${shellWord(name)}`).join(', ')}`,
  },
  PATH_NOT_FOUND: { exitCode: 3, hint: wherePathsAre, paths: ({ path }) => [path] },
  NOTHING_TO_UNDO: {
    exitCode: 3,
    hint: ({ instance }, next) => `Choose a snapshot to go back to: ${next('list', instance)}`,
  },
  NOTHING_PENDING: { exitCode: 3, hint: ({ instance }, next) => `See the snapshots: ${next('list', instance)}` },
  INSTANCE_ACTIVE: {
    exitCode: 4,
    hint: ({ instance, owner }, next) =>
      /\bcontainer\b/.test(owner)
        ? 'Let the session end, or stop its container, then try again. --force goes on all the same.'
        : `Let it end, or say that it has: ${next('instance deactivate', instance)}. --force restores all the same.`,
  },
  INSTANCE_CLOSED: {
    exitCode: 4,
    hint: ({ instance }, next) =>
      `Its snapshots are still there: ${next('restore latest --to DIR', instance)}; for new ones make another instance: ${next('save', 'NAME')}`,
  },
  MOUNTS_DIFFER: {
    exitCode: 4,
    hint: ({ instance, unnamed }, next) =>
      unnamed === true
        ? `Look at them: ${next('list', instance)}; go on with another folder: ${next('save DIR', instance)}`
        : `See its folders: ${next('instance show', instance)}; for other folders make another instance: ${next('save DIR', 'NAME')}`,
  },
  MOUNT_GONE: {
    exitCode: 4,
    hint: ({ named, instance }, next) =>
      named
        ? `Name a folder that is there; see those that have snapshots: ${next('list --all', null)}`
        : `Put the folder back in place, or write the snapshot elsewhere: ${next('restore latest --to DIR', instance)}`,
    paths: ({ path }) => [path],
  },
  MOUNT_REPLACED: {
    exitCode: 4,
    hint: (_, next) =>
      `Write it elsewhere: ${next('restore latest --to DIR')}; or say --force if this is the right folder.`,
    paths: ({ path }) => [path],
  },
  MOUNT_CHANGED: {
    exitCode: 4,
    hint: () => 'Something moves folders in the mount: let it finish, then try again.',
  },
  MOUNT_UNSAFE: {
    exitCode: 4,
    hint: (_, next) => `Choose a folder below it, or mean it: ${next('save --allow-unsafe-mount')}`,
    paths: ({ path }) => [path],
  },
  RESTORE_PENDING: { exitCode: 4, hint: ({ instance }, next) => recoverCommands(instance, next) },
  GIT_STATE_ABSENT: {
    exitCode: 3,
    hint: (_, next) => `Restore the files alone, and protect commits from now on: ${next('save --protect-commits')}`,
  },
  GIT_STATE_REFUSED: {
    exitCode: 4,
    hint: (_, next) => `Restore it into a new folder: ${next('restore SNAP --git-state --to DIR')}`,
  },
  STATE_ABSENT: {
    exitCode: 3,
    hint: ({ snapshot }, next) =>
      `See what it holds: ${next(`show ${snapshot}`, null)}; have state stored from now on: ${next('instance set snapshot=project-and-state')}`,
  },
  JACKIN_OWNED: {
    exitCode: 4,
    hint: ({ snapshot }, next) => `Write it into a new folder: ${next(`restore ${snapshot} --state --to DIR`, null)}`,
    paths: ({ path }) => [bytesOfText(path)],
  },
  LIMIT_EXCEEDED: {
    exitCode: 4,
    hint: (_, next) =>
      `Raise the limit with --max-file-size, or leave such files out: ${next('instance set on_limit=skip')}`,
    paths: ({ path }) => [path],
  },
  DESTINATION_EXISTS: { exitCode: 4, hint: () => 'Name a path where nothing is yet.', paths: ({ path }) => [path] },
  CONFIRMATION_NEEDED: {
    exitCode: 5,
    hint: ({ command }, next) =>
      command === undefined
        ? 'Look with --dry-run first; say --yes to go on without being asked.'
        : `Go on without being asked: ${next(command, null)}`,
  },
  ACKNOWLEDGEMENT_NEEDED: {
    exitCode: 5,
    hint: ({ instance, names }, next) => {
      const words = names.map((name) => `--acknowledge ${shellWord(name)}`).join(' ');
      return `Look at it: ${next(`assess ${instance} --files`, null)}; if all of that may go: ${next(`discard ${instance} --yes ${words}`, null)}`;
    },
  },
  LARGE_DELETION: {
    exitCode: 5,
    hint: () => 'Look with --dry-run first; if that is meant, say --allow-large beside --yes.',
  },
  DECLINED: { exitCode: 5, hint: ({ what }) => declinedHints[what] },
  INCOMPLETE_REFUSED: {
    exitCode: 6,
    hint: (_, next) => `Make them readable, or save what can be read: ${next('save')}`,
    paths: ({ paths }) => paths,
  },
  SNAPSHOT_DAMAGED: { exitCode: 7, hint: (_, next) => `See what is damaged: ${next('verify --full')}` },
  FORMAT_UNKNOWN: { exitCode: 7, hint: () => 'A newer jackin-snap wrote it: update this one.' },
  STORE_DAMAGED: { exitCode: 7, hint: (_, next) => `See what is damaged: ${next('verify --full')}` },
  JOURNAL_DAMAGED: { exitCode: 7, hint: (_, next) => `See what is pending: ${next('doctor')}` },
  BUSY: { exitCode: 8, hint: ({ holder }) => `Try again when it is done${holder === '' ? '' : `: ${holder}`}.` },
  GIT_MISSING: { exitCode: 9, hint: ({ program }) => `Install ${program}, then check with: ${program} --version` },
  GIT_TOO_OLD: { exitCode: 9, hint: ({ needed }) => `Install git ${needed} or later, then check with: git --version` },
  GIT_FAILED: { exitCode: 1, hint: (_, next) => `Check the store: ${next('doctor')}` },
  NO_SPACE: {
    exitCode: 9,
    hint: ({ path, pending }, next) =>
      pending === undefined
        ? `Free some space there (df -h ${shellPath(path)}), for example with: ${next('prune')}`
        : `Free some space. ${recoverCommands(pending, next)}`,
  },
  SYSTEM_FAILED: {
    exitCode: 1,
    hint: ({ pending, left }, next) => {
      if (pending === undefined)
        return `See what the system says of it (dmesg), then check the store: ${next('doctor')}`;
      const recover = recoverCommands(pending, next);
      return left === undefined
        ? `See what the system says of it (dmesg). ${recover}`
        : `See what forbids it (lsattr -d, findmnt, dmesg). ${recover}; with --force they are left where they are.`;
    },
    paths: ({ left }) => left ?? [],
  },
  DATA_DIR_OPEN: {
    exitCode: 9,
    hint: ({ path }) => `Make it private: chmod 700 ${shellPath(path)}; or name another folder with --data-dir DIR.`,
  },
  DATA_DIR_DENIED: {
    exitCode: 9,
    hint: ({ path }) => `See whose it is: ls -ld ${shellPath(path)}; another place is --data-dir DIR.`,
  },
  REF_EXISTS: { exitCode: 8, hint: () => 'Another save was faster: try again.' },
  INTERRUPTED: {
    exitCode: ({ signal }) => signalExits[signal],
    hint: ({ pending }, next) =>
      pending === undefined
        ? `Nothing half-done is visible. See where it stands: ${next('list')}`
        : recoverCommands(pending, next),
  },
  NOT_A_REPOSITORY: {
    exitCode: 4,
    hint: (_, next) => `Run it in the folder itself: ${next('run -- CMD')}; or make a repository of it: git init`,
    paths: ({ path }) => [path],
  },
  REPOSITORY_UNSUITABLE: {
    exitCode: 4,
    hint: (_, next) => `Run it in the folder itself: ${next('run -- CMD')}`,
    paths: ({ path }) => [path],
  },
  WORKTREE_NOT_FOUND: { exitCode: 3, hint: (_, next) => `See what there is: ${next('run list', null)}` },
  WORKTREE_EXISTS: {
    exitCode: 4,
    hint: ({ name }, next) => `Choose another name with -i, or remove that one: ${next(`run remove ${name}`, null)}`,
  },
  WORKTREE_LOCKED: {
    exitCode: 4,
    hint: ({ path }) => `Unlock it first: git worktree unlock ${shellPath(path)}`,
    paths: ({ path }) => [path],
  },
  WORKTREE_HOLDS_MORE: {
    exitCode: 4,
    hint: ({ name }, next) =>
      `Look after that first, then remove it; what is named is lost with: ${next(`run remove ${name} --force`, null)}`,
  },
  REMOTE_REFUSED: {
    exitCode: 4,
    hint: () =>
      'Name a URL (https, ssh, git, http), HOST:PATH, or the path of a bare repository outside of all mounts.',
  },
  REMOTE_FAILED: {
    exitCode: 9,
    hint: ({ remote }) => `See whether git reaches it: git ls-remote ${shellWord(remote)}`,
  },
  REMOTE_TOO_LARGE: {
    exitCode: 4,
    hint: ({ remote, what }, next) =>
      what === 'transfer'
        ? `If that is what it should be, let more come: ${next('fetch REMOTE --max-size 100G')}`
        : `Look at what is there: git ls-remote ${shellWord(remote)}`,
  },
  COMMAND_NOT_STARTED: {
    exitCode: ({ exitCode }) => exitCode,
    hint: ({ command }) => `See whether it is there: command -v ${shellWord(command)}`,
  },
  INTERNAL: { exitCode: 1, hint: (_, next) => `Check the store: ${next('doctor')}. This is a bug; please report it.` },
};

const declinedHints = {
  restore: 'Look at the plan again with --dry-run; with --yes nobody asks.',
  recover: 'See the two ways to end it: jackin-snap recover --help',
  discard: 'See what is at risk: jackin-snap assess --files',
  remove: 'See what would go with --dry-run; with --yes nobody asks.',
} as const;

function wherePathsAre({ where, path, snapshot }: SnapErrorData['PATH_NOT_FOUND'], next: NextCommand): string {
  if (where === 'host') return `Make the folder that it is to lie in: mkdir -p ${shellPath(dirname(path))}`;
  const instance = snapshot === undefined ? undefined : null;
  if (where === 'recommendation')
    return `Write it, for example: recommended = ["go"]; see the presets: ${next('stacks list')}`;
  if (where === 'mounts') return `See the folders and their names: ${next(`show ${snapshot ?? 'latest'}`, instance)}`;
  const tree = next(`tree ${snapshot ?? 'latest'}`, instance);
  return `See the paths: ${tree}. They start at the mount's root; bytes that an argument cannot carry come through --paths-from.`;
}

export interface Explained {
  readonly exitCode: number;
  readonly hint: string;
  readonly paths: readonly string[];
}

export function explain<Code extends SnapErrorCode>(error: SnapError<Code>, next: NextCommand): Explained {
  const explanation: Explanation<Code> = explanations[error.code];
  const { exitCode, hint, paths } = explanation;
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : exitCode(error.data),
    hint: hint(error.data, next),
    paths: (paths?.(error.data) ?? []).map(asBytes),
  };
}

function shellPath(path: string): string {
  return shellWord(displayPath(asBytes(path)));
}

/** Paths in errors are bytes; text that cannot be bytes (a setting's, say) is taken as the text it is. */
function asBytes(path: string): string {
  return /[^\0-\xff]/.test(path) ? bytesOfText(path) : path;
}
