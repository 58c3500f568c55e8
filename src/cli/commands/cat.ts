import type { Command } from 'commander';
import { shellWord } from '../../core/command-text.js';
import type { PathArgument } from '../../index.js';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<snap>', 'the snapshot')
    .argument('[path...]', 'the files')
    .usage('[options] SNAP PATH...')
    .option('--paths-from <file>', 'more of them, NUL-separated; - is stdin')
    .action((snapshot: string, words: string[], { pathsFrom }: { readonly pathsFrom?: string }) =>
      session.run(command, async (context) => {
        const { gatherPaths } = await import('../paths.js');
        const given = { words: [...words, ...context.pathsAfterDashes], from: pathsFrom };
        const paths = await gatherPaths(given, context.surroundings);
        if (paths.length === 0) throw missingPath(snapshot);
        return context.globals.json ? collectFiles(snapshot, paths, context) : writeFiles(snapshot, paths, context);
      }),
    );
  addNotes(command, {
    about: 'The content of files of a snapshot, byte for byte, on stdout.',
    examples: [
      ['cat latest src/main.c', 'one file'],
      ['cat 3 -- -odd-name > copy', 'a name that starts with a dash'],
    ],
    exits: [0, 3, 7],
  });
}

function missingPath(snapshot: string): UsageError {
  const message = "Missing required argument 'path'.";
  return new UsageError(
    message,
    (next) => `Write it as: jackin-snap cat SNAP PATH...; see the paths: ${next(`tree ${shellWord(snapshot)}`)}`,
  );
}

async function writeFiles(snapshot: string, paths: readonly PathArgument[], context: Context): Promise<Outcome> {
  const { snap, surroundings, stopProgress } = context;
  const write = (chunk: Uint8Array): Promise<void> => {
    stopProgress();
    return surroundings.output.stdout.write(chunk);
  };
  for (const path of paths) await snap.cat(snapshot, path, write);
  return { data: () => ({}), text: () => '' };
}

async function collectFiles(snapshot: string, paths: readonly PathArgument[], { snap }: Context): Promise<Outcome> {
  const { contentData } = await import('../views/json.js');
  const { pathToJson } = await import('../library.js');
  const files: unknown[] = [];
  for (const path of paths) {
    const chunks: Uint8Array[] = [];
    // The library may use its buffer again, once the chunk is written.
    const write = (chunk: Uint8Array): Promise<void> => Promise.resolve(void chunks.push(Uint8Array.from(chunk)));
    const { sizeBytes } = await snap.cat(snapshot, path, write);
    files.push({ path: pathToJson(path.path), size_bytes: sizeBytes, content: contentData(Buffer.concat(chunks)) });
  }
  return { data: () => ({ files }), text: () => '' };
}
