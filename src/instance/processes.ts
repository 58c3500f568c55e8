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
    // The name in parentheses may itself hold blanks and parentheses: fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; only its parent has not looked yet.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  },
  bootId() {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  },
};
