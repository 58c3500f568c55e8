import { readFileSync } from 'node:fs';

import type { Processes } from '../core/ports.js';
import { systemCode } from '../errors.js';

/** What the kernel tells of other processes. A process is known by its number and the moment when it started. */
export const linuxProcesses: Processes = {
  startOf(pid) {
    let text: string;
    try {
      text = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESRCH') return undefined;
      throw error;
    }
    const fields = fieldsOf(text);
    // A zombie has ended; only its parent has not looked yet.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  },
  bootId() {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  },
};

/** True when what is typed on a terminal, such as Ctrl-C, reaches this process and all in its group by itself. */
export function hasTerminal(): boolean {
  const [, , group, , , foreground] = fieldsOf(readFileSync('/proc/self/stat', 'latin1'));
  return group !== undefined && group === foreground;
}

/** From the state on. The name in parentheses may itself hold blanks and parentheses: they are counted from its end. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
