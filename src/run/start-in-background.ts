import { spawn } from 'node:child_process';
import os from 'node:os';

/**
 * Starts a command on its own: in no terminal's group, with nobody reading what it says, in no folder that could be in
 * anybody's way, and after everybody else's work. Where it cannot be started, nothing happens.
 */
export function startInBackground([program, ...args]: readonly [string, ...string[]]): void {
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
  if (child.pid !== undefined) comeLast(child.pid);
}

function comeLast(pid: number): void {
  try {
    os.setPriority(pid, os.constants.priority.PRIORITY_LOW);
  } catch {
    // It may have ended already.
  }
}
