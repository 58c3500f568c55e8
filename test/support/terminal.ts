import { spawnSync } from 'node:child_process';
import { startProcess } from './run-process.js';

/** Can programs be run on a terminal that a test types on? */
export const hasPython: boolean = spawnSync('python3', ['-c', 'import pty']).status === 0;

export interface TypedStep {
  /** Typed once this is on the screen, after what earlier steps waited for. */
  readonly after: string;
  readonly type?: string;
  /** A file that holds the number of a process: nothing is typed before that process is stopped. */
  readonly stopped?: string;
  /** The window gets this size, before anything is typed. */
  readonly resize?: { readonly rows: number; readonly columns: number };
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a program on a terminal of its own and types on it. The terminal is taken away from a program that has not ended
 * in time.
 *
 * @returns all that was on the screen, and the exit code (null: it was not over in time)
 */
export async function onTerminal(
  command: readonly string[],
  steps: readonly TypedStep[],
  { cwd, env }: TerminalOptions,
): Promise<{ readonly shown: string; readonly code: number | null }> {
  const typed = JSON.stringify(
    steps.map(({ after, type = '', stopped = null, resize }) => [
      after,
      type,
      stopped,
      resize === undefined ? null : [resize.rows, resize.columns],
    ]),
  );
  const run = await startProcess('python3', ['-c', driver, typed, String(limitS), ...command], {
    cwd,
    env,
    timeout: 2000 * limitS,
  }).done;
  return { shown: run.stdout, code: run.code === notInTime ? null : run.code };
}

const limitS = 60;
const notInTime = 255;

const driver = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
steps = json.loads(sys.argv[1])
end = time.monotonic() + float(sys.argv[2])
def wait_for_stop(file):
    with open(file) as number:
        status = '/proc/%s/stat' % number.read().strip()
    while time.monotonic() < end:
        with open(status) as text:
            if text.read().rpartition(')')[2].split()[0] == 'T':
                return
        time.sleep(0.01)
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
screen, seen, late = b'', 0, False
while True:
    late = not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]
    if late:
        break
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    screen += chunk
    while steps:
        at = screen.find(steps[0][0].encode(), seen)
        if at < 0:
            break
        seen = at + len(steps[0][0])
        _, text, stopped, size = steps.pop(0)
        if stopped:
            wait_for_stop(stopped)
        if size:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', size[0], size[1], 0, 0))
        os.write(terminal, text.encode())
sys.stdout.buffer.write(screen)
sys.stdout.flush()
if late:
    print('[not over in time; waited for %r]' % (steps[0][0] if steps else 'the end'))
    os.close(terminal)
    os.kill(pid, signal.SIGHUP)
    sys.exit(${String(notInTime)})
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`;
