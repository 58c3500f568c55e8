import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<snap>', 'the snapshot')
    .argument('<dest>', 'a path where nothing is yet')
    .action((snapshot: string, dest: string) =>
      session.run(command, async ({ snap, surroundings }) => {
        const { hostPath } = await import('../paths.js');
        const destination = hostPath(dest, surroundings.cwd);
        const { files, bytes, messages } = await snap.export(snapshot, destination);
        const [{ pathToJson, displayPath }, { counted, sizeText }] = await Promise.all([
          import('../library.js'),
          import('../views/format.js'),
        ]);
        return {
          data: () => ({ destination: pathToJson(destination), files, bytes }),
          text: () => `Exported ${counted(files, 'file')} (${sizeText(bytes)}) to ${displayPath(destination)}\n`,
          report: true,
          messages,
        };
      }),
    );
  addNotes(command, {
    about:
      'The snapshot as a new folder or, where DEST ends in .tar, .tar.gz or .tgz, as a tar. Archives of other kinds are ' +
      'refused.',
    examples: [
      ['export 3 ../as-it-was', 'a folder'],
      ['export latest ../today.tar.gz', 'a tar, outside the folder that is saved'],
    ],
    exits: [0, 3, 4, 7],
  });
}
