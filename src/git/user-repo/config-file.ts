/*
 * A repository's own config file, read as data: includes are never followed, nothing in it is obeyed. Bytes.
 */

export interface RepositoryConfig {
  /** The last value of a key; undefined when it is not set. A key without a value is 'true'. */
  get(section: string, subsection: string | null, key: string): string | undefined;
  /** All keys with their last values: section, subsection where there is one, and key, with zeros between. */
  entries(): Iterable<readonly [string, string]>;
  /** The paths of other files that it includes, under whatever condition. */
  included(): readonly string[];
}

/** Undefined when git could not read it either. */
export function parseConfig(text: string): RepositoryConfig | undefined {
  const values = new Map<string, string>();
  const included: string[] = [];
  let section: string | undefined;
  const reader = new Reader(text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text);
  while (reader.skipBlanks()) {
    if (reader.peek() === '[') {
      section = readSection(reader);
      if (section === undefined) return undefined;
      continue;
    }
    const variable = readVariable(reader);
    if (variable === undefined || section === undefined) return undefined;
    values.set(`${section}\0${variable.key}`, variable.value);
    if (variable.key === 'path' && /^include(?:$|if\0)/.test(section)) included.push(variable.value);
  }
  return {
    get: (name, subsection, key) => values.get(`${sectionKey(name, subsection)}\0${key.toLowerCase()}`),
    entries: () => values,
    included: () => included,
  };
}

function sectionKey(name: string, subsection: string | null): string {
  return subsection === null ? name.toLowerCase() : `${name.toLowerCase()}\0${subsection}`;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** The next character, '' at the end. A line may end in CR LF. */
  next(): string {
    if (this.#text.startsWith('\r\n', this.#at)) this.#at += 1;
    return this.#text.charAt(this.#at++);
  }

  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  /** Goes to the next section or variable; false at the end. */
  skipBlanks(): boolean {
    this.take(/(?:\s+|[#;][^\n]*)*/y);
    return this.#at < this.#text.length;
  }
}

function readSection(reader: Reader): string | undefined {
  reader.next();
  const name = reader.take(/[a-zA-Z0-9.-]+/y);
  if (name === '') return undefined;
  if (reader.take(/[ \t]*/y) === '') return reader.next() === ']' ? plainSection(name) : undefined;
  if (reader.next() !== '"') return undefined;
  let subsection = '';
  for (let character = reader.next(); character !== '"'; character = reader.next()) {
    if (character === '\\') character = reader.next();
    if (character === '' || character === '\n') return undefined;
    subsection += character;
  }
  return reader.next() === ']' ? sectionKey(name, subsection) : undefined;
}

/** The old spelling `[branch.main]`, whose second part git takes in lower case. */
function plainSection(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? sectionKey(name, null) : sectionKey(name.slice(0, dot), name.slice(dot + 1).toLowerCase());
}

function readVariable(reader: Reader): { readonly key: string; readonly value: string } | undefined {
  const key = reader.take(/[a-zA-Z][a-zA-Z0-9-]*/y).toLowerCase();
  if (key === '') return undefined;
  reader.take(/[ \t]*/y);
  const sign = reader.next();
  if (sign === '' || sign === '\n') return { key, value: 'true' };
  const value = sign === '=' ? readValue(reader) : undefined;
  return value === undefined ? undefined : { key, value };
}

function readValue(reader: Reader): string | undefined {
  let value = '';
  let kept = 0;
  for (let piece = readPiece(reader); piece !== ''; piece = readPiece(reader)) {
    const isPlain = !/^["\\]/.test(piece);
    const text = isPlain ? plainText(piece, value) : unescaped(piece.replace(/^"([^]*)"$/, '$1'));
    const solid = isPlain ? lengthWithoutBlanks(text) : text.length;
    // Blanks at the end count only within quotes.
    if (solid > 0 || !isPlain) kept = value.length + solid;
    value += text;
  }
  reader.take(/[#;][^\n]*/y);
  const end = reader.next();
  return end === '\n' || end === '' ? value.slice(0, kept) : undefined;
}

/** Blanks before anything else do not count. */
function plainText(piece: string, before: string): string {
  return before === '' ? piece.replace(/^[ \t\r]+/, '') : piece;
}

function lengthWithoutBlanks(text: string): number {
  let length = text.length;
  while (length > 0 && ' \t\r'.includes(text.charAt(length - 1))) length -= 1;
  return length;
}

/** Plain text, a quoted part, or one escape; '' at anything else. */
function readPiece(reader: Reader): string {
  const plain = reader.take(/[^"\\#;\n]+/y);
  return plain === '' ? reader.take(/"(?:[^"\\\n]|\\(?:\r?\n|[ntb"\\]))*"|\\(?:\r?\n|[ntb"\\])/y) : plain;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' };

/** An escaped line end joins the lines. */
function unescaped(text: string): string {
  return text.replace(/\\(\r?\n|[^])/g, (_, escaped: string) => escapes[escaped] ?? '');
}
