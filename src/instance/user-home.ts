import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

import { systemCode } from '../errors.js';

/**
 * The user's home directory: `HOME`, else that in the machine's list of users; undefined where neither names one. An
 * empty or relative `HOME` names none: it would be another folder wherever the user stands. `os.homedir()` passes it on.
 */
export function userHome(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env['HOME'];
  return named !== undefined && isAbsolute(named) ? named : listedHome();
}

/** Undefined for a user without an entry, or without a home in it. */
function listedHome(): string | undefined {
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
