import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';
import type { GuardedDirectory, Reading } from './guarded-directory.js';
import { absent, read, unreadable } from './guarded-directory.js';
import { inflated, largestCommit } from './inflated.js';
import { findInPacks } from './pack-lookup.js';

/** The tree of a commit, from a loose object or a pack. Reads only what it needs, and unpacks no more than it allows. */
export function readCommitTree(commonDir: GuardedDirectory, oid: ObjectId): Reading<ObjectId> {
  const found = readCommit(commonDir, oid);
  if (found.kind === 'unreadable') return found;
  if (found.kind === 'absent') return unreadable('the commit at HEAD is not in the repository itself');
  const tree = /^tree ([0-9a-f]{40})\n/.exec(found.value.toString('latin1', 0, 46))?.[1];
  return tree === undefined ? unreadable('the commit at HEAD is damaged') : read(tree as ObjectId);
}

function readCommit(commonDir: GuardedDirectory, oid: ObjectId): Reading<Buffer> {
  const loose = readLoose(commonDir, oid);
  const found = loose.kind === 'absent' ? findInPacks(commonDir, oid) : loose;
  if (found.kind !== 'read') return found;
  const content = found.value;
  const computed = createHash('sha1').update(`commit ${content.length}\0`).update(content).digest('hex');
  return computed === oid ? found : unreadable('the commit at HEAD is damaged');
}

function readLoose(commonDir: GuardedDirectory, oid: ObjectId): Reading<Buffer> {
  const file = commonDir.read(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`, largestCommit);
  if (file.kind !== 'read') return file;
  const whole = inflated(file.value, largestCommit);
  const header = whole && /^commit \d{1,7}\0/.exec(whole.toString('latin1', 0, 20))?.[0];
  // What is no readable commit is as good as none: a pack may hold a good one.
  return whole && header !== undefined ? read(whole.subarray(header.length)) : absent;
}
