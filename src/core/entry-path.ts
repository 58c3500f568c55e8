import { SnapError } from '../errors.js';

declare const kind: unique symbol;

/**
 * A path relative to a mount's root, as bytes: each character of the string is one byte (latin1), so that names
 * that are not UTF-8 survive and plain string order is byte order. '' is the root itself.
 */
export type EntryPath = string & { readonly [kind]: 'entry-path' };

/** An absolute host path as bytes, carried the same way. */
export type HostPath = string & { readonly [kind]: 'host-path' };

export const rootPath = '' as EntryPath;

/** The only way from bytes to an EntryPath: no empty, "." or ".." component, no NUL, not absolute. */
export function parseEntryPath(bytes: string): EntryPath {
  if (bytes === '') return rootPath;
  for (const part of bytes.split('/')) {
    if (part === '' || part === '.' || part === '..' || part.includes('\0')) {
      throw new SnapError(
        'USAGE',
        `${displayPath(bytes)} is no path within a mount: it has the component ${JSON.stringify(part)}.`,
        {
          what: 'path',
        },
      );
    }
  }
  return bytes as EntryPath;
}

export function joinPath(parent: EntryPath, name: string): EntryPath {
  return (parent === '' ? name : `${parent}/${name}`) as EntryPath;
}

export function parentPath(path: EntryPath): EntryPath {
  const cut = path.lastIndexOf('/');
  return (cut < 0 ? '' : path.slice(0, cut)) as EntryPath;
}

export function baseName(path: EntryPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** True when `path` is `ancestor` or lies below it. */
export function isWithin(path: EntryPath, ancestor: EntryPath): boolean {
  return (
    ancestor === '' || path === ancestor || (path.startsWith(ancestor) && path.charCodeAt(ancestor.length) === 0x2f)
  );
}

/** True when `inner` is `outer` or lies below it; both absolute and real, with or without slashes at the end. */
export function contains(outer: HostPath, inner: HostPath): boolean {
  const folder = outer.replace(/\/+$/, '');
  return inner === folder || inner === outer || inner.startsWith(`${folder}/`);
}

/** The host path of an entry, or of anything else, below a folder. */
export function hostPathBelow(folder: HostPath, path: string): HostPath {
  return (path === '' ? folder : `${folder.replace(/\/+$/, '')}/${path}`) as HostPath;
}

/** The folder that a host path lies in; `/` lies in itself. */
export function parentOf(path: HostPath): HostPath {
  return (path.replace(/\/*[^/]*\/*$/, '') || '/') as HostPath;
}

/** The path's ancestors from the root (`''`) down, without the path itself. */
export function* ancestorsOf(path: EntryPath): Generator<EntryPath> {
  if (path === '') return;
  yield rootPath;
  for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1)) yield path.slice(0, cut) as EntryPath;
}

/**
 * What a path inherits from the nearest path at or above it that has an answer of its own. Answers are remembered, so
 * that asking for all paths of a tree costs one look each, however deep it is.
 */
export class Inherited<Answer> {
  readonly #own: (path: EntryPath) => Answer | undefined;
  readonly #known = new Map<EntryPath, Answer | undefined>();

  constructor(own: (path: EntryPath) => Answer | undefined) {
    this.#own = own;
  }

  at(path: EntryPath): Answer | undefined {
    const asked: EntryPath[] = [];
    let answer: Answer | undefined;
    for (let at = path; ; at = parentPath(at)) {
      if (this.#known.has(at)) {
        answer = this.#known.get(at);
        break;
      }
      asked.push(at);
      answer = this.#own(at);
      if (answer !== undefined || at === '') break;
    }
    for (const at of asked) this.#known.set(at, answer);
    return answer;
  }
}

/** Bytes of ordinary text, such as a command-line argument. */
export function bytesOfText(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text that the bytes are, or undefined when they are not UTF-8. */
export function textOfBytes(bytes: string): string | undefined {
  if (isAscii(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  const text = buffer.toString('utf8');
  return Buffer.from(text, 'utf8').equals(buffer) ? text : undefined;
}

export function isAscii(bytes: string): boolean {
  return /^[\x00-\x7f]*$/.test(bytes);
}

/** A path as JSON documents carry it: text when it is UTF-8, else base64 of its bytes. */
export type JsonPath = string | { readonly base64: string };

export function pathToJson(bytes: string): JsonPath {
  return textOfBytes(bytes) ?? { base64: Buffer.from(bytes, 'latin1').toString('base64') };
}

export function pathFromJson(path: JsonPath): string {
  return typeof path === 'string' ? bytesOfText(path) : Buffer.from(path.base64, 'base64').toString('latin1');
}

/**
 * A path for human eyes: what is not printable (control characters, C1, bidi controls, line separators, bytes that
 * are not UTF-8) is escaped C-style, so that no name can steer a terminal.
 */
export function displayPath(bytes: string): string {
  if (/^[ -~]*$/.test(bytes)) return bytes;
  const text = textOfBytes(bytes);
  if (text === undefined)
    return Array.from(bytes, (byte) => (byte < ' ' || byte > '~' ? hexEscape(byte.charCodeAt(0)) : byte)).join('');
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  const point = character.codePointAt(0) ?? 0;
  return point < 0x80 ? hexEscape(point) : `\\u{${point.toString(16)}}`;
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
