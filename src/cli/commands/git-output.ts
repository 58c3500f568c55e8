import type { GitOutput } from '../../index.js';
import type { Context, Outcome } from '../session.js';

/**
 * Runs git for the reader's eyes: on the terminal with pager and colours as git users know them, plainly into a pipe,
 * and into the document with `--json`.
 */
export async function showGitOutput(
  context: Context,
  run: (output: GitOutput) => Promise<{ readonly exitCode: number; readonly messages?: readonly string[] }>,
): Promise<Outcome> {
  const chunks: Uint8Array[] = [];
  const output: GitOutput = context.globals.json
    ? { kind: 'collect', onData: (chunk) => void chunks.push(chunk) }
    : { kind: 'inherit', color: context.color, pager: pagerOf(context) };
  const { exitCode, messages = [] } = await run(output);
  const { contentData } = await import('../views/json.js');
  return {
    data: () => ({ exit_code: exitCode, output: contentData(Buffer.concat(chunks)) }),
    text: () => '',
    messages,
    exitCode,
  };
}

/** git's own order of choice, as far as the environment says; `cat` and '' mean none. */
function pagerOf({ surroundings: { output, env } }: Context): string | null {
  if (!output.stdoutIsTerminal || !output.stdinIsTerminal) return null;
  const pager = env['GIT_PAGER'] ?? env['PAGER'] ?? 'less';
  return pager === '' || pager === 'cat' ? null : pager;
}
