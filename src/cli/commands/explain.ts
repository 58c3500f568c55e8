import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export function define(command: Command, session: Session): void {
  command
    .argument('[path...]', 'paths from the root of the folder')
    .option('--paths-from <file>', 'more of them, NUL-separated; - is stdin')
    .action((paths: string[], { pathsFrom }: { readonly pathsFrom?: string }) =>
      session.run(command, async ({ snap, surroundings, pathsAfterDashes, style }) => {
        const { gatherPaths } = await import('../paths.js');
        const words = [...paths, ...pathsAfterDashes];
        const asked = await gatherPaths({ words, from: pathsFrom }, surroundings);
        if (asked.length === 0)
          throw new UsageError('No path was named.', (next) => `For example: ${next('explain node_modules .env')}`);
        const result = await snap.explain({ paths: asked });
        const [{ explainData }, { explainText }] = await Promise.all([
          import('../views/json-contract.js'),
          import('../views/text-contract.js'),
        ]);
        return {
          data: () => explainData(result),
          text: async () => explainText(result, await style()),
          messages: result.messages,
        };
      }),
    );
  addNotes(command, {
    about:
      'Say of each path whether a save would store it, and which rule decides: its pattern, file and line, preset or limit.',
    examples: [
      ['explain node_modules .env', 'why they are left out'],
      ['explain build/app.js --json', 'for scripts'],
    ],
    exits: [0, 3, 4],
  });
}
