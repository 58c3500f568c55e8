import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<snap>', 'the snapshot')
    .argument('<dest>', 'a path where nothing is yet')
    .option('--state', "also what is stored of a session's state, in a folder of its own")
    .action((snapshot: string, dest: string, { state }: { readonly state?: true }) =>
      session.run(command, async ({ snap, surroundings }) => {
        const { hostPath } = await import('../paths.js');
        const destination = hostPath(dest, surroundings.cwd);
        const result = await snap.export(snapshot, destination, { state });
        const { files, bytes, messages } = result;
        const [{ displayPath }, { counted, sizeText }, { exportData }] = await Promise.all([
          import('../library.js'),
          import('../views/format.js'),
          import('../views/json.js'),
        ]);
        return {
          data: () => exportData(result, destination),
          text: () => `Exported ${counted(files, 'file')} (${sizeText(bytes)}) to ${displayPath(destination)}\n`,
          report: true,
          messages,
        };
      }),
    );
  addNotes(command, {
    about:
      'The snapshot as a new folder or, where DEST ends in .tar, .tar.gz or .tgz, as a tar. Archives of other kinds are ' +
      "refused. A session's state is left out unless it is asked for.",
    examples: [
      ['export 3 ../as-it-was', 'a folder'],
      ['export latest ../today.tar.gz', 'a tar, outside the folder that is saved'],
    ],
    exits: [0, 3, 4, 7],
  });
}
