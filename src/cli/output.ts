import type { WriteStream } from 'node:tty';

/** One of the two streams that a command writes to. */
export interface Sink {
  /** Resolves once the stream took the bytes, so that a slow reader slows us down. */
  write(chunk: string | Uint8Array): Promise<void>;
}

/** Where a command's words go, and what it may assume about the reader. */
export interface Output {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** The terminal's width; 80 where it is not known. */
  readonly columns: number;
  /** For libraries that draw on the terminal themselves. */
  readonly terminal: NodeJS.WritableStream;
}

/** The reader of stdout went away (`| head`). Nothing is wrong: the rest is not wanted. */
export class ReaderGone extends Error {}

/** What was to be said could not be written: the disk behind stdout is full, say. */
export class OutputFailed extends Error {}

type ProcessStream = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

export interface ProcessStreams {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: ProcessStream;
  readonly stderr: ProcessStream;
}

export function processOutput({ stdin, stdout, stderr }: ProcessStreams): Output {
  return {
    stdout: sinkOf(stdout, (cause) => new OutputFailed(`The output cannot be written: ${cause.message}.`, { cause })),
    // Words that nobody reads are no reason to stop.
    stderr: sinkOf(stderr, () => undefined),
    stdinIsTerminal: stdin.isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    stderrIsTerminal: stderr.isTTY === true,
    columns: widthOf(stdout.isTTY === true ? stdout : stderr),
    terminal: stderr,
  };
}

// Some terminals say that they are 0 wide.
function widthOf({ columns }: ProcessStream): number {
  return columns === undefined || columns === 0 ? 80 : columns;
}

function sinkOf(stream: NodeJS.WritableStream, failureFor: (cause: Error) => Error | undefined): Sink {
  let gone = false;
  // Without a listener, node throws what we already handle in the write's callback.
  stream.on('error', () => undefined);
  return {
    write(chunk) {
      if (gone || chunk.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        stream.write(chunk, (error) => {
          if (!error) return resolve();
          const isGone = 'code' in error && error.code === 'EPIPE';
          gone ||= isGone;
          const failure = failureFor(error);
          if (failure === undefined) resolve();
          else reject(isGone ? new ReaderGone() : failure);
        });
      });
    },
  };
}
