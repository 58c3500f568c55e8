const signalNames = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type SignalName = (typeof signalNames)[number];

export interface Signals {
  /** Aborted by the first signal, with its name as the reason. */
  readonly signal: AbortSignal;
  /** For a question that is asked now: what was typed to end the command of a `run` is no answer to it. */
  readonly forQuestion: () => AbortSignal;
  /** A second SIGINT no longer ends the process. */
  readonly beDeaf: () => void;
  readonly stop: () => void;
}

type SignalSource = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>;

// Wrappers pass on what the terminal already sent to the whole group: two signals this close are one.
const oneKeystroke = 500;

/**
 * The first signal lets the operation end in order. A second SIGINT ends the process at once, the way the system would.
 */
export function listenToSignals(source: SignalSource, clock: () => number = () => performance.now()): Signals {
  const controller = new AbortController();
  let asking: AbortController | undefined;
  let deaf = false;
  // Other signals than SIGINT are to end us, too: nobody waits for a question.
  let toEnd = false;
  let first: number | undefined;
  const hear = (name: SignalName): void => {
    const again = first !== undefined && clock() - first > oneKeystroke;
    first ??= clock();
    if (again && !deaf && name === 'SIGINT') {
      stop();
      source.kill(source.pid, name);
      return;
    }
    toEnd ||= name !== 'SIGINT';
    controller.abort(name);
    asking?.abort(name);
  };
  const forQuestion = (): AbortSignal => {
    if (!deaf || toEnd) return controller.signal;
    asking = new AbortController();
    return asking.signal;
  };
  const stop = (): void => signalNames.forEach((name) => source.off(name, hear));
  signalNames.forEach((name) => source.on(name, hear));
  return { signal: controller.signal, forQuestion, beDeaf: () => (deaf = true), stop };
}
