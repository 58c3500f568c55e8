import type { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';

/** An entry of a user's tree. Its name is bytes, and not to be trusted. */
export interface UserTreeEntry {
  readonly mode: number;
  readonly name: string;
  readonly oid: ObjectId;
}

/** The mode of a submodule, whose commit is none of the repository's objects. */
export const gitlink = 0o160000;

/** Undefined when it is no tree. */
export function parseUserTree(content: Buffer): UserTreeEntry[] | undefined {
  const entries: UserTreeEntry[] = [];
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(0x20, at);
    const zero = blank < 0 ? -1 : content.indexOf(0, blank);
    if (zero < 0 || zero + 21 > content.length) return undefined;
    const mode = content.toString('latin1', at, blank);
    if (!/^[0-7]{5,6}$/.test(mode)) return undefined;
    const oid = content.toString('hex', zero + 1, zero + 21) as ObjectId;
    entries.push({ mode: Number.parseInt(mode, 8), name: content.toString('latin1', blank + 1, zero), oid });
    at = zero + 21;
  }
  return entries;
}

/** Whether a checkout may make the name: git makes none of the others either. */
export function isCheckoutName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !/^\.git$/i.test(name);
}
