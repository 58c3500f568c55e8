import type { ObjectId } from '../../core/ids.js';
import { namesAbove } from '../../core/ref-names.js';
import type { GuardedDirectory, Reading } from './guarded-directory.js';
import { absent, read, unreadable } from './guarded-directory.js';

/** What HEAD says: a ref's name (that may not exist yet), or a commit. */
export type Head = { readonly ref: string } | { readonly oid: ObjectId };

const refLimit = 64 * 1024;
const packedRefsLimit = 256 * 1024 * 1024;
const symbolicDepth = 5;

/** Names are bytes. */
export function readHead(gitDir: GuardedDirectory): Reading<Head> {
  const reading = gitDir.read('HEAD', refLimit);
  if (reading.kind !== 'read') return reading;
  const head = parseRef(reading.value.toString('latin1'));
  return head ? read(head) : unreadable('HEAD is malformed');
}

/** The commit that a ref names, following symbolic refs; absent when there is no such ref. */
export function resolveRef(gitDir: GuardedDirectory, commonDir: GuardedDirectory, name: string): Reading<ObjectId> {
  let ref = name;
  for (let depth = 0; depth < symbolicDepth; depth += 1) {
    if (!isSafeRefName(ref)) return unreadable('HEAD names no ref');
    const holder = isOwnRef(ref) ? gitDir : commonDir;
    const loose = holder.read(ref, refLimit);
    if (loose.kind === 'absent') return findPacked(commonDir, ref);
    if (loose.kind === 'unreadable') return loose;
    const value = parseRef(loose.value.toString('latin1'));
    if (value === undefined) return unreadable('a ref is malformed');
    if ('oid' in value) return read(value.oid);
    ref = value.ref;
  }
  return unreadable('a symbolic ref leads too far');
}

function parseRef(text: string): Head | undefined {
  const oid = /^([0-9a-f]{40})(?:\s|$)/.exec(text)?.[1];
  if (oid !== undefined) return { oid: oid as ObjectId };
  const ref = /^ref:[ \t]*([^\n]*)/.exec(text)?.[1]?.trimEnd();
  return ref === undefined || ref === '' ? undefined : { ref };
}

/** What can be looked up as a path below the git directory and nowhere else. */
function isSafeRefName(ref: string): boolean {
  return /^refs\/[^\0\n]+$/.test(ref) && ref.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Refs that each worktree has for itself. */
function isOwnRef(ref: string): boolean {
  return /^refs\/(?:bisect|worktree|rewritten)\//.test(ref);
}

function findPacked(commonDir: GuardedDirectory, ref: string): Reading<ObjectId> {
  const reading = commonDir.read('packed-refs', packedRefsLimit);
  return reading.kind === 'read' ? findIn(reading.value, ref) : reading;
}

function findIn(content: Buffer, ref: string): Reading<ObjectId> {
  const wanted = Buffer.from(` ${ref}`, 'latin1');
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    const isWhole = end === content.length || content[end] === 0x0a;
    if (!isWhole || at < 40 || (at > 40 && content[at - 41] !== 0x0a)) continue;
    const oid = content.toString('latin1', at - 40, at);
    return /^[0-9a-f]{40}$/.test(oid) ? read(oid as ObjectId) : unreadable('packed-refs is malformed');
  }
  return absent;
}

/** A packed ref above or below a name: of the two git can have only one. */
export function packedClash(commonDir: GuardedDirectory, name: string): string | undefined {
  const packed = commonDir.read('packed-refs', packedRefsLimit);
  if (packed.kind !== 'read') return undefined;
  const content = packed.value;
  const above = namesAbove(name).find((one) => findIn(content, one).kind === 'read');
  const at = content.indexOf(Buffer.from(` ${name}/`, 'latin1'));
  if (above !== undefined || at < 0) return above;
  const end = content.indexOf('\n', at);
  return content.toString('latin1', at + 1, end < 0 ? content.length : end);
}
