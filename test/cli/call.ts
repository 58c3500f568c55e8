import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../src/cli/main.js';
import type { Output, Sink } from '../../src/cli/output.js';
import type { Surroundings } from '../../src/cli/surroundings.js';
import type { SnapOptions } from '../../src/core/requests.js';
import { fakeSnap, type Asked, type FakeSnap } from './fake-snap.js';

export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly Asked[];
  /** What was asked of the library first, without the method. */
  readonly request: unknown;
  readonly questions: readonly string[];
  readonly options: SnapOptions | undefined;
  /** stdout as JSON. */
  readonly document: () => Record<string, unknown> & { data: Record<string, unknown>; error: Record<string, unknown> };
}

export interface CallOptions {
  readonly fake?: FakeSnap;
  readonly terminal?: boolean | { readonly stdin?: boolean; readonly stdout?: boolean; readonly stderr?: boolean };
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly answer?: boolean;
  readonly files?: Readonly<Record<string, string>>;
  readonly openSnap?: Surroundings['openSnap'];
}

export const now = new Date('2026-03-01T13:30:00.000Z');

type Streams = Record<'stdout' | 'stderr', string>;

/** Runs one command line against a fake library. */
export async function call(argv: readonly string[], options: CallOptions = {}): Promise<Called> {
  const fake = options.fake ?? fakeSnap();
  const said: Streams = { stdout: '', stderr: '' };
  const questions: string[] = [];
  let seen: SnapOptions | undefined;
  const code = await runCommandLine(argv, {
    output: fakeOutput(said, options),
    env: { NO_COLOR: '1', ...options.env },
    cwd: '/work/m',
    now: () => now,
    elapsed: () => 0.042,
    signal: new AbortController().signal,
    beDeafToSignals: () => undefined,
    program: '/opt/bin/jackin-snap',
    openSnap: (opened) => {
      seen = opened;
      return options.openSnap ? options.openSnap(opened) : Promise.resolve(fake.snap);
    },
    ask: (question) => {
      questions.push(question);
      return Promise.resolve(options.answer ?? false);
    },
    readFile: (path) => {
      const content = options.files?.[path];
      if (content === undefined) return Promise.reject(Object.assign(new Error('no file'), { code: 'ENOENT' }));
      return Promise.resolve(Buffer.from(content, 'latin1'));
    },
  });
  return {
    code,
    ...said,
    asked: fake.asked,
    request: fake.asked[0]?.request,
    questions,
    options: seen,
    document: () => JSON.parse(said.stdout) as ReturnType<Called['document']>,
  };
}

function fakeOutput(said: Streams, { terminal = false, columns = 80 }: CallOptions): Output {
  const isTerminal = typeof terminal === 'boolean' ? { stdin: terminal, stdout: terminal, stderr: terminal } : terminal;
  const sink = (name: keyof Streams): Sink => ({
    write(chunk) {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
      return Promise.resolve();
    },
  });
  return {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    stdinIsTerminal: isTerminal.stdin === true,
    stdoutIsTerminal: isTerminal.stdout === true,
    stderrIsTerminal: isTerminal.stderr === true,
    columns,
    terminal: new PassThrough(),
  };
}
