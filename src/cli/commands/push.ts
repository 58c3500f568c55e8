import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { addRemoteOptions, mayAskOn, type RemoteOptions, toRequest } from './remote-options.js';

interface PushOptions extends RemoteOptions {
  readonly state?: true;
  readonly includeSecrets?: true;
}

export function define(command: Command, session: Session): void {
  addRemoteOptions(
    command
      .argument('<remote>', 'a URL, HOST:PATH, or the path of a bare repository')
      .argument('[snap...]', 'only these; default: all of the instance'),
  )
    .option('--state', "also those that hold state of a session's agents")
    .option('--include-secrets', 'also those that were saved with secrets')
    .action((remote: string, snapshots: string[], options: PushOptions) =>
      session.run(command, async ({ snap, surroundings, globals }) => {
        const { state, includeSecrets } = options;
        const asked = toRequest(remote, options, mayAskOn(surroundings, globals));
        const result = await snap.push({ ...asked, snapshots, state, includeSecrets });
        const [{ pushData }, { pushText }] = await Promise.all([
          import('../views/json-remote.js'),
          import('../views/text-remote.js'),
        ]);
        const isDamaged = result.leftOut.some(({ reason }) => reason === 'damaged');
        return {
          data: () => pushData(result),
          text: () => pushText(result),
          // What was not pushed must be said however quiet we are asked to be.
          report: result.refused.length === 0 && result.leftOut.length === 0,
          messages: result.messages,
          exitCode: result.refused.length > 0 ? 4 : isDamaged ? 7 : 0,
        };
      }),
    );
  addNotes(command, {
    about:
      'Snapshots to any git repository, as refs below refs/jackin. Nothing there is moved or removed. Where the remote has ' +
      'another snapshot under one of the numbers, none of that instance is pushed, and it is named (exit 4).',
    more: `Who reads the remote reads the files. Snapshots with state or secrets stay
here unless they are asked for.`,
    examples: [
      ['push ssh://host/srv/snapshots.git', 'all of this folder'],
      ['push --all /mnt/backup/snapshots.git', 'all of every instance'],
      ['push --dry-run host:snapshots.git latest', 'what one would do'],
    ],
    exits: [0, 3, 4, 7, 9],
  });
}
