import { spawnSync } from 'node:child_process';
import { startProcess } from './run-process.js';

/** Can programs be run on a terminal that a test types on? */
export const hasPython: boolean = spawnSync('python3', ['-c', 'import pty']).status === 0;

export interface TypedStep {
  /** Typed once this is on the screen, after what earlier steps waited for. */
  readonly after: string;
  readonly type?: string;
  /** The window gets this size, before anything is typed. */
  readonly resize?: { readonly rows: number; readonly columns: number };
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a program on a terminal of its own and types on it. @returns all that was on the screen, and the exit code */
export async function onTerminal(
  command: readonly string[],
  steps: readonly TypedStep[],
  { cwd, env }: TerminalOptions,
): Promise<{ readonly shown: string; readonly code: number | null }> {
  const typed = JSON.stringify(
    steps.map(({ after, type = '', resize }) => [
      after,
      type,
      resize === undefined ? null : [resize.rows, resize.columns],
    ]),
  );
  const run = await startProcess('python3', ['-c', driver, typed, ...command], { cwd, env, timeout: 60_000 }).done;
  return { shown: run.stdout, code: run.code };
}

const driver = `
import fcntl, json, os, pty, struct, sys, termios
steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
screen, seen = b'', 0
while True:
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
        _, text, size = steps.pop(0)
        if size:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', size[0], size[1], 0, 0))
        os.write(terminal, text.encode())
sys.stdout.buffer.write(screen)
sys.stdout.flush()
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`;
