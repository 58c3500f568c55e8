import { readFileSync } from 'node:fs';

import type { Caller } from '../core/caller.js';

/** Null where the system does not tell. */
export function readCaller(proc = '/proc/self'): Caller | null {
  const status = readText(`${proc}/status`);
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(status ?? '')?.[1];
  const [uid, gid] = [fileSystemId(status, 'Uid'), fileSystemId(status, 'Gid')];
  if (capabilities === undefined || uid === undefined || gid === undefined) return null;
  return {
    uid,
    gid,
    groups: new Set([gid, ...numbersOf(/^Groups:(.*)$/m.exec(status ?? '')?.[1])]),
    // CAP_CHOWN is the first of the capabilities.
    mayGiveAway: (BigInt(`0x${capabilities}`) & 1n) === 1n,
    hasUid: readIds(`${proc}/uid_map`),
    hasGid: readIds(`${proc}/gid_map`),
  };
}

/** Real, effective, saved, and that with which files are reached. */
function fileSystemId(status: string | undefined, what: 'Uid' | 'Gid'): number | undefined {
  const line = new RegExp(`^${what}:(.*)$`, 'm').exec(status ?? '')?.[1];
  return numbersOf(line)[3];
}

/** The ids that a user namespace has: each line is the first inside, the first outside, and how many. */
function readIds(path: string): (id: number) => boolean {
  const text = readText(path);
  if (text === undefined) return () => true;
  const ranges = text.split('\n').flatMap((line) => {
    const [first, , count] = numbersOf(line);
    return first === undefined || count === undefined ? [] : [{ first, count }];
  });
  return (id) => ranges.some(({ first, count }) => id >= first && id - first < count);
}

function numbersOf(text: string | undefined): number[] {
  return (text ?? '').split(/\s+/).flatMap((word) => (/^\d+$/.test(word) ? [Number(word)] : []));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
