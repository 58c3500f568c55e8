import { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

import { systemCode } from '../../errors.js';
import { parseConfig } from '../user-repo/config-file.js';

/*
 * Places elsewhere that files of a repository name, for git to read there too. Paths are bytes.
 */

/** git follows no more of each in a row. */
const inARow = { alternates: 5, includes: 10 } as const;
const fileAtMost = 1024 * 1024;

/** The other folders of objects that one reads from, and those that they read from. */
export function alternatesOf(objects: string): string[] {
  return allNamedBy(objects, inARow.alternates, (store) =>
    linesOf(textOf(`${store}/info/alternates`) ?? '').map((line) => posix.resolve(store, line)),
  );
}

/** The files that a configuration includes, under whatever condition. */
export function includesOf(file: string): string[] {
  return allNamedBy(file, inARow.includes, (configuration) => {
    const included = parseConfig(textOf(configuration) ?? '')?.included() ?? [];
    return included.map((path) => posix.resolve(posix.dirname(configuration), path));
  });
}

function allNamedBy(first: string, atMost: number, namedBy: (place: string) => readonly string[]): string[] {
  const all = new Set<string>();
  let places: readonly string[] = [first];
  for (let step = 0; step <= atMost && places.length > 0; step += 1) {
    places = places.flatMap(namedBy).filter((place) => !all.has(place));
    for (const place of places) all.add(place);
  }
  return [...all];
}

/** A line that begins with a quote is one as git writes it for C. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => (/^".*"$/.test(line) ? unquoted(line.slice(1, -1)) : line));
}

function unquoted(text: string): string {
  return text.replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8) & 0xff) : escaped,
  );
}

/** Undefined for what is no plain file, or larger than such files are; nothing waits for a pipe. */
function textOf(path: string): string | undefined {
  try {
    const fd = openSync(Buffer.from(path, 'latin1'), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      return stat.isFile() && stat.size <= fileAtMost ? readFileSync(fd, 'latin1') : undefined;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
