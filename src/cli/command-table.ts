import type { Command } from 'commander';
import type { CommandShape } from './command-line.js';
import { diffOptions, logOptions } from './git-options.js';
import type { Session } from './session.js';

/** A command as the overview knows it. What it takes and does is loaded when it is called. */
export interface CommandEntry extends CommandShape {
  readonly usage: string;
  readonly group: string;
  readonly summary: string;
  /** Not in the overview. */
  readonly hidden?: true;
  readonly load: () => Promise<CommandModule>;
}

export interface CommandModule {
  readonly define: (command: Command, session: Session) => void;
}

const save = 'Save:';
const look = 'Look:';
const restore = 'Restore:';
const tidy = 'Keep tidy:';
const check = 'Check and set up:';

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'save',
    usage: '[DIR...]',
    group: save,
    summary: 'take a snapshot of the folder, or of DIRs',
    load: () => import('./commands/save.js'),
  },
  {
    name: 'run',
    usage: '-- CMD...',
    group: save,
    summary: 'take one before and one after a command',
    insteadOfProgram: ['list', 'remove'],
    load: () => import('./commands/run.js'),
  },
  {
    name: 'plan',
    usage: '[DIR...]',
    group: save,
    summary: 'what one would hold; also: explain, stacks',
    load: () => import('./commands/plan.js'),
  },
  {
    name: 'explain',
    hidden: true,
    usage: 'PATH...',
    group: save,
    summary: 'is PATH saved, and which rule says so?',
    takesPaths: true,
    load: () => import('./commands/explain.js'),
  },
  {
    name: 'list',
    alias: 'ls',
    usage: '',
    group: look,
    summary: 'the snapshots, newest first',
    load: () => import('./commands/list.js'),
  },
  {
    name: 'show',
    usage: 'SNAP',
    group: look,
    summary: 'one snapshot, and what it left out',
    load: () => import('./commands/show.js'),
  },
  {
    name: 'diff',
    usage: 'SNAP [SNAP] [-- PATH...]',
    group: look,
    summary: "git's diff; with one SNAP against now",
    takesPaths: true,
    gitOptions: diffOptions,
    load: () => import('./commands/diff.js'),
  },
  {
    name: 'log',
    usage: '[-- PATH...]',
    group: look,
    summary: "git's log, each with what changed",
    takesPaths: true,
    gitOptions: logOptions,
    load: () => import('./commands/log.js'),
  },
  {
    name: 'tree',
    usage: 'SNAP [PATH]',
    group: look,
    summary: 'the files of a snapshot',
    takesPaths: true,
    load: () => import('./commands/tree.js'),
  },
  {
    name: 'cat',
    usage: 'SNAP PATH...',
    group: look,
    summary: 'the content of files',
    takesPaths: true,
    load: () => import('./commands/cat.js'),
  },
  {
    name: 'restore',
    usage: 'SNAP [PATH...]',
    group: restore,
    summary: 'put the folder, or PATHs, back',
    takesPaths: true,
    load: () => import('./commands/restore.js'),
  },
  {
    name: 'undo',
    usage: '',
    group: restore,
    summary: 'take the last restore back',
    load: () => import('./commands/undo.js'),
  },
  {
    name: 'recover',
    usage: '--continue | --abort',
    group: restore,
    summary: 'end a restore that was interrupted',
    load: () => import('./commands/recover.js'),
  },
  {
    name: 'export',
    usage: 'SNAP DEST',
    group: restore,
    summary: 'as a folder or tar; also: push, fetch',
    load: () => import('./commands/export.js'),
  },
  {
    name: 'recovery',
    usage: 'show | ...',
    group: restore,
    summary: "jackin's sessions, gone ones too",
    takesPaths: true,
    gitOptions: diffOptions,
    load: () => import('./commands/recovery.js'),
  },
  {
    name: 'assess',
    usage: '[INSTANCE]',
    group: look,
    summary: 'what is unpushed; also keep, discard, resume',
    load: () => import('./commands/assess.js'),
  },
  {
    name: 'keep',
    hidden: true,
    usage: '[INSTANCE]',
    group: tidy,
    summary: 'note that a session stays',
    load: () => import('./commands/keep.js'),
  },
  {
    name: 'discard',
    hidden: true,
    usage: '[INSTANCE]',
    group: tidy,
    summary: 'give up a session, after a snapshot of it',
    load: () => import('./commands/discard.js'),
  },
  {
    name: 'resume',
    hidden: true,
    usage: '[INSTANCE]',
    group: tidy,
    summary: 'go on with a session that was kept',
    load: () => import('./commands/resume.js'),
  },
  {
    name: 'pin',
    usage: 'SNAP',
    group: tidy,
    summary: 'keep it, whatever prune does; also: unpin',
    load: () => import('./commands/pin.js'),
  },
  {
    name: 'unpin',
    hidden: true,
    usage: 'SNAP',
    group: tidy,
    summary: 'leave it to prune again',
    load: () => import('./commands/unpin.js'),
  },
  {
    name: 'delete',
    usage: 'SNAP...',
    group: tidy,
    summary: 'remove snapshots',
    load: () => import('./commands/delete.js'),
  },
  {
    name: 'prune',
    usage: '',
    group: tidy,
    summary: 'remove what retention lets go; also: gc, du',
    load: () => import('./commands/prune.js'),
  },
  {
    name: 'gc',
    hidden: true,
    usage: '',
    group: tidy,
    summary: 'free what is removed; see what takes it: du',
    load: () => import('./commands/gc.js'),
  },
  {
    name: 'du',
    hidden: true,
    usage: '',
    group: tidy,
    summary: 'what snapshots take on the disk',
    load: () => import('./commands/du.js'),
  },
  {
    name: 'push',
    hidden: true,
    usage: 'REMOTE [SNAP...]',
    group: tidy,
    summary: 'snapshots to a git remote',
    load: () => import('./commands/push.js'),
  },
  {
    name: 'fetch',
    hidden: true,
    usage: 'REMOTE',
    group: tidy,
    summary: 'snapshots from a git remote',
    load: () => import('./commands/fetch.js'),
  },
  {
    name: 'verify',
    usage: '',
    group: check,
    summary: 'is every snapshot whole and restorable?',
    load: () => import('./commands/verify.js'),
  },
  {
    name: 'drill',
    usage: '[SNAP]',
    group: check,
    summary: 'restore it elsewhere, compare, tidy up',
    load: () => import('./commands/drill.js'),
  },
  {
    name: 'doctor',
    usage: '',
    group: check,
    summary: 'are git, permissions and store in order?',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'instance',
    usage: 'list | show | set | ...',
    group: check,
    summary: 'lifecycle and settings of instances',
    load: () => import('./commands/instance.js'),
  },
  {
    name: 'stacks',
    hidden: true,
    usage: 'list | show | ...',
    group: check,
    summary: 'presets for kinds of projects',
    load: () => import('./commands/stacks.js'),
  },
];
