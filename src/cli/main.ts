import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { commandIndex } from './command-line.js';
import { OutputFailed, processOutput, ReaderGone } from './output.js';
import type { Session } from './session.js';
import { listenToSignals } from './signals.js';
import type { Surroundings } from './surroundings.js';

/** Runs one command line and answers its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const output = processOutput(process);
  // Answered before anything else is loaded: scripts ask it often.
  if (asksForVersion(argv)) {
    await output.stdout.write(`${await programVersion()}\n`);
    return 0;
  }
  const signals = listenToSignals(process);
  try {
    return await runCommandLine(argv, {
      output,
      env: process.env,
      cwd: currentFolder(),
      now: () => new Date(),
      elapsed: () => Math.round(performance.now()) / 1000,
      signal: signals.signal,
      beDeafToSignals: signals.beDeaf,
      openSnap: async (options) => (await import('../index.js')).createSnap(options),
      program: process.argv[1] ?? '',
      ask: async (question) => {
        const { askOnTerminal } = await import('./confirm.js');
        return askOnTerminal(question, { input: process.stdin, output: process.stderr, signal: signals.forQuestion() });
      },
      readFile: (path) => (path === '-' ? readStdin() : readFile(path)),
    });
  } finally {
    signals.stop();
  }
}

/** The same with everything of the process as arguments. The one place that catches. */
export async function runCommandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { runProgram, startSession } = await import('./program.js');
  const session = startSession(argv, surroundings);
  try {
    return await runProgram(session);
  } catch (error) {
    if (error instanceof ReaderGone) return session.exitCode;
    return await tell(error, session);
  }
}

/** `--version` before any command, whatever other options stand beside it. */
function asksForVersion(argv: readonly string[]): boolean {
  return argv.slice(0, commandIndex(argv)).some((word) => word === '--version' || word === '-V');
}

async function tell(error: unknown, session: Session): Promise<number> {
  const { failureDocument, failureOf, failureText } = await import('./failure.js');
  const { commandName, globals, notices, surroundings } = session;
  const { output, elapsed } = surroundings;
  const versions = { program: await programVersion(), node: process.version };
  const failure = failureOf(error, { globals, commandName, versions });
  if (!globals.json || error instanceof OutputFailed) {
    await output.stderr.write(failureText(failure));
    return failure.exitCode;
  }
  if (failure.code === 'INTERNAL') await output.stderr.write(failure.before);
  const document = failureDocument(failure, { command: commandName, messages: notices, elapsed: elapsed() });
  // The exit code says it, too, to a reader who does not listen.
  await output.stdout.write(`${JSON.stringify(document)}\n`).catch(() => undefined);
  return failure.exitCode;
}

async function programVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  return String(version);
}

/** A shell may stand in a folder that is gone; commands that name their instance work from there all the same. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/';
  }
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
