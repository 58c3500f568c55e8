import type { UsageSubject } from '../index.js';
import type { Hint, NextCommand } from './next-command.js';

/*
 * The next step after a command line that cannot be carried out: wrong usage has many causes, and each has its own.
 */

/** Where a command's options, examples and exit codes are. */
export function helpHint(commandName: string): string {
  return commandName === ''
    ? 'See all commands: jackin-snap --help'
    : `See its options and examples: jackin-snap ${commandName} --help`;
}

/** What commander found wrong, by the code of its error. */
export function hintFor(code: string, said: string, { name, usage }: { name: string; usage: string }): Hint {
  const form = ['Write it as: jackin-snap', name, usage].filter((word) => word !== '').join(' ');
  switch (code) {
    case 'commander.help':
      return name === ''
        ? (next) => `Take a first snapshot of this folder: ${next('save')}`
        : (next) => `For example: ${next(`${name} show`)}`;
    case 'commander.missingArgument':
      return (next) => [form, missing.get(argumentIn(said))?.(next)].filter((part) => part !== undefined).join('; ');
    case 'commander.excessArguments':
      return ofOneInstance.has(name) ? (next) => `${form}; that of another instance: ${next(name, 'NAME')}` : form;
    default:
      return helpHint(code === 'commander.unknownCommand' && !groups.has(name) ? '' : name);
  }
}

/** Commands that have commands of their own. */
const groups: ReadonlySet<string> = new Set(['instance', 'recovery', 'stacks']);

/** Takes no argument, and is often given the name of an instance. */
const ofOneInstance: ReadonlySet<string> = new Set(['list', 'undo', 'du', 'prune', 'instance show']);

const snapshots = (next: NextCommand): string => `see the snapshots: ${next('list')}`;

/** What there is to choose from, for each argument that may be missing. */
const missing: ReadonlyMap<string, (next: NextCommand) => string> = new Map(
  Object.entries({
    snap: snapshots,
    path: (next) => `see the paths: ${next('tree latest')}`,
    remote: (next) => `for example: ${next('push ssh://host/srv/snapshots.git')}`,
    dest: (next) => `for example: ${next('export latest ../as-it-was.tar.gz')}`,
    instance: (next) => `see what there is: ${next('recovery list', null)}`,
    source: (next) => `for example: ${next('instance import jackin', null)}`,
    cmd: (next) => `for example: ${next('run -- make test')}`,
    'key=value': (next) => `see the settings: ${next('instance show')}`,
  }),
);

function argumentIn(said: string): string {
  return /'([^']*)'/.exec(said)?.[1] ?? '';
}

/** What the library found wrong. */
export const subjectHints: Readonly<Record<UsageSubject, (next: NextCommand) => string>> = {
  preset: (next) =>
    `See the presets: ${next('stacks list')}; none beside the usual ones: ${next('instance set more_stacks=')}`,
  archive: (next) =>
    `For example: ${next('export latest ../as-it-was.tar.gz')}; a folder of any name: ${next('restore latest --to DIR')}`,
  'data directory': () =>
    'Name one: jackin-snap --data-dir DIR, or JACKIN_SNAP_DATA_DIR=DIR; or set HOME to your home directory.',
  destination: (next) => `Name a place outside the data directory: ${next('export latest ../as-it-was')}`,
  'git option': () => 'See the options that go to git: jackin-snap diff --help, jackin-snap log --help',
  'instance name': (next) => `See the instances that there are: ${next('list --all', null)}`,
  'mount name': (next) => `Give each folder a name: ${next('save --mount web=./web --mount api=./api')}`,
  'part of the content': (next) => `For example: ${next('verify --percent 10')}; ${next('verify --max-duration 10m')}`,
  path: (next) => `See the paths: ${next('tree latest')}`,
  process: (next) => `Name one that runs, such as this shell: ${next('instance activate --pid $$')}`,
  setting: (next) => `See the settings as they are: ${next('instance show')}`,
  snapshots: (next) =>
    `See the snapshots of an instance: ${next('list', 'NAME')}; of all instances: ${next('list --all', null)}`,
};
