import type { Command } from 'commander';
import { addNotes } from '../help.js';
import { parseSize } from '../options.js';
import type { Session } from '../session.js';
import { addRemoteOptions, mayAskOn, type RemoteOptions, toRequest } from './remote-options.js';

interface FetchOptions extends RemoteOptions {
  readonly maxSize?: number;
}

export function define(command: Command, session: Session): void {
  addRemoteOptions(command.argument('<remote>', 'a URL, HOST:PATH, or the path of a bare repository'))
    .option('--max-size <size>', 'how much may come; default: 10G', parseSize)
    .action((remote: string, options: FetchOptions) =>
      session.run(command, async ({ snap, surroundings, globals }) => {
        const asked = toRequest(remote, options, mayAskOn(surroundings, globals));
        const result = await snap.fetch({ ...asked, maxBytes: options.maxSize });
        const [{ fetchData }, { fetchText }] = await Promise.all([
          import('../views/json-remote.js'),
          import('../views/text-remote.js'),
        ]);
        return {
          data: () => fetchData(result),
          text: () => fetchText(result),
          report: result.refused.length === 0,
          messages: result.messages,
          exitCode: result.refused.length > 0 ? 4 : 0,
        };
      }),
    );
  addNotes(command, {
    about:
      'Snapshots from any git repository that they were pushed to. All that comes is checked before it is part of the store; ' +
      'what is no snapshot, or has a number that is another one here, is refused and named (exit 4).',
    more: `An instance that is not known here has its snapshots, and no folders: look at
them with list and show, and write them with restore SNAP --to DIR.`,
    examples: [
      ['fetch --all ssh://host/srv/snapshots.git', 'all that it has'],
      ['-i shop fetch /mnt/backup/snapshots.git', 'of one instance'],
    ],
    exits: [0, 3, 4, 8, 9],
  });
}
