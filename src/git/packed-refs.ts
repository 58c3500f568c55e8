import { Buffer } from 'node:buffer';
import { lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type ObjectId, isInstanceName, toSeq } from '../core/ids.js';
import type { PackedRefsDamage } from '../core/lost-refs.js';
import { isSnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, syncDirectory, writeDurably } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import { crc32 } from './pack/crc32.js';
import { damagedPart } from './ref-kinds.js';

/*
 * git's `packed-refs` as it must be: a heading, then a line for each ref, in order. git dies over some damage in it, and
 * sees nothing in other: then refs are gone, or have another name, and nobody is told. A file that ends too early, but
 * with a line, looks whole: the name of its last line is therefore kept beside it for as long as that line is there.
 */

export const lastPacked = 'last-packed-ref';

const heading = /^# pack-refs with:[ a-z-]*$/;
// That tags are followed it does not say: what they lead to git finds out again.
const ownHeading = '# pack-refs with: sorted ';

/** @throws SnapError STORE_DAMAGED where something is wrong with the file */
export function refuseDamagedPackedRefs(storeDirectory: string): void {
  const [problem] = packedRefsDamage(storeDirectory).problems;
  if (problem !== undefined) throw damagedPart(storeDirectory, 'packed-refs', problem);
}

/** What is wrong with the file; nothing where there was none. */
export function packedRefsDamage(storeDirectory: string): PackedRefsDamage {
  const noted = lastNoted(storeDirectory);
  const text = textOf(storeDirectory);
  const damage = text === undefined ? soundOne : new Reading(text).damage();
  if (noted === undefined || text?.includes(` ${noted}\n`) === true) return damage;
  // Refs may be moved and deleted meanwhile, by who does not hold back others that only look.
  if (lastNoted(storeDirectory) !== noted) return damage;
  const problem = `packed-refs is damaged: it ends before ${noted}, its last ref (unless another program deleted that)`;
  return { ...damage, problems: [...damage.problems, problem], isCut: true };
}

/** Notes where the file ends. Without room for it, what was noted still holds. The caller holds the exclusive lock. */
export function noteLastPacked(storeDirectory: string): void {
  const name = / ([^ \n]+)\n(?:\^[0-9a-f]{40}\n)?$/.exec(textOf(storeDirectory) ?? '')?.[1];
  if (name === undefined) {
    forget(storeDirectory);
    return;
  }
  note(storeDirectory, name);
}

function note(storeDirectory: string, name: string): void {
  try {
    writeDurably(join(storeDirectory, lastPacked), Buffer.from(`${name}\n${checksumOf(name)}\n`, 'latin1'));
  } catch (error) {
    if (!isSnapError(error, 'NO_SPACE')) throw error;
  }
}

/** Done before refs are deleted: without the last of them, it is no longer known where the file ends. */
export function forgetLastPacked(storeDirectory: string, names: readonly string[]): void {
  const last = names.length === 0 ? undefined : lastNoted(storeDirectory);
  if (last !== undefined && names.includes(last)) forget(storeDirectory);
}

function forget(storeDirectory: string): void {
  rmSync(join(storeDirectory, lastPacked), { force: true });
  syncDirectory(storeDirectory);
}

/** Undefined where nothing is known: what is damaged says nothing. */
function lastNoted(storeDirectory: string): string | undefined {
  const path = join(storeDirectory, lastPacked);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > longestNote) return undefined;
  const [, name = '', checksum] = /^(refs\/[^ \n]+)\n([0-9a-f]{8})\n$/.exec(readIfThere(path) ?? '') ?? [];
  return checksum !== undefined && checksum === checksumOf(name) ? name : undefined;
}

const longestNote = 8192;

function checksumOf(name: string): string {
  return crc32(Buffer.from(name, 'latin1')).toString(16).padStart(8, '0');
}

/**
 * Writes the file anew with all that can be read of it; what it has no value for becomes a broken ref with a file of its
 * own. Where refs were lost, it counts as cut until its end is noted anew: they have to come back first. The caller holds
 * the store's exclusive lock.
 * @returns what was wrong with it
 */
export function rewritePackedRefs(storeDirectory: string): PackedRefsDamage {
  const text = textOf(storeDirectory);
  const reading = new Reading(text ?? `${ownHeading}\n`);
  const damage = packedRefsDamage(storeDirectory);
  if (damage.problems.length === 0) return damage;
  if (damage.isCut || damage.ids.length > 0) note(storeDirectory, somethingLost);
  for (const name of damage.names) noteBroken(join(storeDirectory, name));
  const lines = [...reading.refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, oid]) => `${oid} ${name}\n`);
  writeDurably(join(storeDirectory, 'packed-refs'), Buffer.from(`${ownHeading}\n${lines.join('')}`, 'latin1'));
  return damage;
}

/** No ref that there is. */
const somethingLost = 'refs/lost';

function noteBroken(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  makeDirectoryDurably(dirname(path));
  writeDurably(path, 'damaged\n');
}

/** The refs that can be read, by name; those that stand there twice are none. */
export function readablePackedRefs(storeDirectory: string): ReadonlyMap<string, ObjectId> {
  return new Reading(textOf(storeDirectory) ?? '').refs;
}

/** The names of those below a prefix, whatever else is in the file. */
export function packedNames(storeDirectory: string, prefix: string): string[] {
  const { text, places } = packedPlaces(storeDirectory, prefix);
  return Array.from(places, ([start, end]) => text.slice(start, end));
}

/** The same as places in the file's text: a line for each ref, its id before its name. */
export function packedPlaces(
  storeDirectory: string,
  prefix: string,
): { readonly text: string; readonly places: Iterable<readonly [start: number, end: number]> } {
  const text = textOf(storeDirectory) ?? '';
  return { text, places: namesIn(text, prefix) };
}

function* namesIn(text: string, prefix: string): Generator<[start: number, end: number]> {
  const wanted = ` ${prefix}`;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at)) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    yield [at + 1, end];
    at = end;
  }
}

/** The id before a name, where it is written as git writes it. */
export function packedValue(storeDirectory: string, name: string): string | undefined {
  const text = textOf(storeDirectory) ?? '';
  const at = text.indexOf(` ${name}\n`);
  return at < 0 ? undefined : /^\n?([0-9a-f]{40})$/.exec(text.slice(Math.max(0, at - 41), at))?.[1];
}

const soundOne: PackedRefsDamage = { problems: [], names: [], ids: [], isCut: false };

function textOf(storeDirectory: string): string | undefined {
  return readIfThere(join(storeDirectory, 'packed-refs'));
}

function readIfThere(path: string): string | undefined {
  try {
    return readRegularFile(path, 'latin1');
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

class Reading {
  readonly refs = new Map<string, ObjectId>();
  readonly #problems: string[] = [];
  readonly #names: string[] = [];
  readonly #ids: ObjectId[] = [];
  #isCut = false;
  #last = '';

  constructor(text: string) {
    const lines = text.split('\n');
    if (lines.pop() !== '') this.#cut('it ends in the middle of a line');
    if (!heading.test(lines[0] ?? '')) this.#cut('it has no heading');
    for (const [at, line] of lines.entries()) if (!line.startsWith('#') || at > 0) this.#take(line, at + 1);
  }

  damage(): PackedRefsDamage {
    return { problems: this.#problems, names: this.#names, ids: this.#ids, isCut: this.#isCut };
  }

  #take(line: string, number: number): void {
    // What a tag leads to.
    if (/^\^[0-9a-f]{40}$/.test(line)) return;
    const [, oid = '', name = ''] = /^(.*?) (.*)$/s.exec(line) ?? [];
    const isId = /^[0-9a-f]{40}$/.test(oid);
    if (isId && isName(name)) this.#add(name, oid as ObjectId, number);
    else {
      this.#problem(`line ${String(number)} is damaged`);
      if (isName(name)) this.#names.push(name);
      else if (isId) this.#ids.push(oid as ObjectId);
      else this.#isCut = true;
    }
  }

  #add(name: string, oid: ObjectId, number: number): void {
    if (name <= this.#last) {
      this.#problem(`line ${String(number)} is not in its place`);
      this.#ids.push(oid);
    }
    this.#last = name;
    const other = this.refs.get(name);
    if (other === undefined && !this.#names.includes(name)) this.refs.set(name, oid);
    if (other === undefined) return;
    // Nobody can tell which of the two it is: what the ids lead to must.
    this.#ids.push(other);
    this.#names.push(name);
    this.refs.delete(name);
  }

  #cut(problem: string): void {
    this.#problem(problem);
    this.#isCut = true;
  }

  #problem(what: string): void {
    this.#problems.push(`packed-refs is damaged: ${what}`);
  }
}

/** Ours must be as we make them; others are whatever people make, unless they may have been ours. */
function isName(name: string): boolean {
  const [, kind, rest = ''] = /^refs\/([^/]+)(?:\/(.*))?$/s.exec(name) ?? [];
  if (kind === undefined) return false;
  if (kind === 'replace') return /^[0-9a-f]{40}$/.test(rest);
  if (kind === 'jackin' || kind === 'jackin-pin') return isNumbered(rest);
  return !['jackin', 'replace'].some(isLike(kind));
}

function isNumbered(rest: string): boolean {
  const [instance = '', seq = '', ...more] = rest.split('/');
  return more.length === 0 && isInstanceName(instance) && toSeq(seq) !== undefined;
}

/** Whether a name may have been this one before a character or two of it were damaged, or the slash after it. */
function isLike(kind: string): (own: string) => boolean {
  return (own) => {
    const differing = Array.from(own).filter((character, at) => kind[at] !== character).length;
    return kind.length >= own.length && differing <= 2;
  };
}
