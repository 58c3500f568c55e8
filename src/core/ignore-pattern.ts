import ignore, { type Ignore } from 'ignore';

import { SnapError } from '../errors.js';

/*
 * One line of a gitignore file, read as git reads it (dir.c and wildmatch.c), on bytes.
 *
 * `ignore` answers for one component of a path at a time; what spans components (anchoring, `**`, directories) is ours.
 * That way it agrees with git where `ignore` alone differs: a negation in a deeper file, `a***\/b`, `**` after literal
 * text, escaped slashes. And no pattern of a hostile mount can make us backtrack over a whole path.
 */

export interface IgnorePattern {
  readonly negative: boolean;
  readonly directoriesOnly: boolean;
  readonly match: PatternMatch;
}

export type PatternMatch =
  /** Holds for a path with this name in any directory. */
  | { readonly kind: 'name'; readonly name: string }
  /** Holds for a name that ends so. */
  | { readonly kind: 'ending'; readonly ending: string }
  /** Holds for this very path. */
  | { readonly kind: 'path'; readonly path: string }
  /** Holds for a name that fits. */
  | { readonly kind: 'component'; readonly component: Component }
  /** Holds for a path whose components fit one of these. */
  | { readonly kind: 'components'; readonly alternatives: readonly (readonly PathPart[])[] };

export type PathPart = Component | typeof anyDirectories;

/** `**` as a whole component: any number of directories. */
export const anyDirectories = '**';

/** What one component must look like. */
export interface Component {
  /** @throws when the pattern cannot be evaluated */
  fits(name: string): boolean;
}

/** Undefined for a line that matches nothing: blank, a comment, or one that git gives up on. */
export function parseIgnorePattern(line: string): IgnorePattern | undefined {
  let pattern = line.startsWith('#') ? '' : trimTrailingSpaces(line);
  const negative = pattern.startsWith('!');
  if (negative) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  const match = matchOf(pattern);
  return match && { negative, directoriesOnly, match };
}

/** Whether a path's components fit the parts: greedy, so that its time is bounded by their product. */
export function fitsParts(names: readonly string[], parts: readonly PathPart[]): boolean {
  let part = 0;
  let resumePart = -1;
  let resumeName = 0;
  for (let name = 0; name < names.length;) {
    const wanted = parts[part];
    if (wanted === anyDirectories) {
      if (part === parts.length - 1) return true;
      resumePart = ++part;
      resumeName = name;
    } else if (wanted?.fits(names[name] ?? '')) {
      part += 1;
      name += 1;
    } else if (resumePart >= 0) {
      part = resumePart;
      name = ++resumeName;
    } else {
      return false;
    }
  }
  return part === parts.length;
}

function trimTrailingSpaces(line: string): string {
  if (!line.endsWith(' ')) return line;
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === ' ') continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function matchOf(pattern: string): PatternMatch | undefined {
  const anywhere = /^\*{2,}\/([^/\\]+)$/.exec(pattern)?.[1] ?? pattern;
  if (!anywhere.includes('/')) return nameMatch(anywhere);
  const body = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const literal = literalStart(body);
  if (literal === body) return { kind: 'path', path: body };
  const alternatives = alternativesOf(literal, body.slice(literal.length))
    .map(partsOf)
    .filter((parts) => parts !== undefined);
  return alternatives.length === 0 ? undefined : { kind: 'components', alternatives };
}

function literalStart(pattern: string): string {
  return /^[^*?[\\]*/.exec(pattern)?.[0] ?? '';
}

function nameMatch(pattern: string): PatternMatch | undefined {
  if (literalStart(pattern) === pattern) return { kind: 'name', name: pattern };
  if (/^\*[^*?[\\]*$/.test(pattern)) return { kind: 'ending', ending: pattern.slice(1) };
  const units = unitsOf(pattern);
  if (!units) return undefined;
  const name = literalText(units);
  return name === undefined ? { kind: 'component', component: componentOf(units) } : { kind: 'name', name };
}

/**
 * git compares the literal start of a path pattern by itself and begins the wild rest afresh. So `**` right after literal
 * text is at a start and spans directories: `a**\/b` holds for `ab` and for what `a*\/**\/b` holds for.
 */
function alternativesOf(literal: string, rest: string): string[] {
  if (literal === '' || literal.endsWith('/')) return [literal + rest];
  const stars = /^\*{2,}(?=\\?\/|$)/.exec(rest)?.[0];
  if (stars === undefined) return [literal + rest];
  const after = rest.slice(stars.length).replace(/^(?:\/\*{2,}(?=\/))+/, '');
  if (after === '') return [`${literal}*`, `${literal}*/**`];
  if (after.startsWith('\\')) return [`${literal}*/**${after.slice(1)}`];
  return [...alternativesOf(literal, after.slice(1)), `${literal}*/**${after}`];
}

/** One unit of a pattern: `*`, `?`, a bracket expression as written, or a literal (escaped where it must be). */
type Unit = string;

function partsOf(pattern: string): PathPart[] | undefined {
  const units = unitsOf(pattern);
  if (!units) return undefined;
  const parts: PathPart[] = [];
  let start = 0;
  for (let at = 0; at <= units.length; at += 1) {
    const unit = units[at];
    if (unit !== undefined && unit !== '/' && unit !== escapedSlash) continue;
    const component = units.slice(start, at);
    start = at + 1;
    // No path has an empty component.
    if (component.length === 0) return undefined;
    if (component.length >= 2 && component.every((each) => each === '*')) {
      // git's way with an escaped slash after `**`: at least one directory.
      if (unit === escapedSlash) parts.push(componentOf(['*']));
      parts.push(anyDirectories);
    } else {
      parts.push(componentOf(component));
    }
  }
  return parts;
}

const escapedSlash = '\\/';

/** Undefined when git gives up on the pattern: a lone backslash at its end, or a bracket that is not well formed. */
function unitsOf(pattern: string): Unit[] | undefined {
  const units: Unit[] = [];
  for (let at = 0; at < pattern.length;) {
    const end = endOfUnit(pattern, at);
    if (end === undefined) return undefined;
    units.push(pattern.slice(at, end));
    at = end;
  }
  return units;
}

function endOfUnit(pattern: string, at: number): number | undefined {
  if (pattern[at] === '[') return endOfBracket(pattern, at);
  const end = endOfSingle(pattern, at);
  return end <= pattern.length ? end : undefined;
}

const classes: ReadonlySet<string> = new Set(
  'alnum alpha blank cntrl digit graph lower print punct space upper xdigit'.split(' '),
);

/** Where the bracket expression ends. Its first member is taken whatever it is, so `[]]` is the set of `]`. */
function endOfBracket(pattern: string, start: number): number | undefined {
  const sign = pattern[start + 1];
  let member: Member | undefined = { end: sign === '!' || sign === '^' ? start + 2 : start + 1, single: false };
  do {
    member = memberAt(pattern, member.end, member.single);
    if (member === undefined || member.end > pattern.length) return undefined;
  } while (pattern[member.end] !== ']');
  return member.end + 1;
}

/** One member of a bracket expression; after a single one, "-" makes a range. */
interface Member {
  readonly end: number;
  readonly single: boolean;
}

function memberAt(pattern: string, at: number, afterSingle: boolean): Member | undefined {
  // The end of a range is a single character, whatever it looks like.
  if (afterSingle && isRangeSign(pattern, at)) return { end: endOfSingle(pattern, at + 1), single: false };
  const named = lengthOfClass(pattern, at);
  if (named === undefined) return undefined;
  return named > 0 ? { end: at + named, single: false } : { end: endOfSingle(pattern, at), single: true };
}

function isRangeSign(pattern: string, at: number): boolean {
  return pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']';
}

function endOfSingle(pattern: string, at: number): number {
  return pattern[at] === '\\' ? at + 2 : at + 1;
}

/** The length of `[:alpha:]` and its like, 0 for anything else, undefined where git gives up on the pattern. */
function lengthOfClass(pattern: string, at: number): number | undefined {
  if (!pattern.startsWith('[:', at)) return 0;
  const close = pattern.indexOf(']', at + 2);
  if (close < 0) return undefined;
  if (close === at + 2 || pattern[close - 1] !== ':') return 0;
  return classes.has(pattern.slice(at + 2, close - 1)) ? close + 1 - at : undefined;
}

/** No file system has longer names. */
const longestName = 1024;

/** Beyond this a pattern for one name is not evaluated. */
const longestComponent = 8192;

function componentOf(units: readonly Unit[]): Component {
  const literals = units.filter((unit) => unit !== '*');
  if (literals.length > longestName) return { fits: () => false };
  if (literals.length === 0) return { fits: () => true };
  const text = literalText(literals);
  if (text !== undefined && units.length === literals.length) return { fits: (name) => name === text };
  return new WildComponent(units);
}

/** The text that the units stand for, undefined when one of them is wild. */
function literalText(units: readonly Unit[]): string | undefined {
  if (units.some(isWild)) return undefined;
  return units.map((unit) => unit.slice(-1)).join('');
}

class WildComponent implements Component {
  readonly #units: readonly Unit[];
  readonly #start: string;
  readonly #end: string;
  readonly #longest: string;
  /** One `*` between literal ends: then the ends are all there is. */
  readonly #isPlain: boolean;
  #compiled: Ignore | undefined;
  #asked: Ignore | undefined;
  #questions = 0;

  constructor(units: readonly Unit[]) {
    this.#units = units;
    const firstWild = units.findIndex(isWild);
    const lastWild = units.findLastIndex(isWild);
    this.#start = literalText(units.slice(0, firstWild)) ?? '';
    this.#end = literalText(units.slice(lastWild + 1)) ?? '';
    this.#longest = longestLiteral(units);
    this.#isPlain = firstWild === lastWild && units[firstWild] === '*';
  }

  fits(name: string): boolean {
    if (!name.startsWith(this.#start) || !name.endsWith(this.#end)) return false;
    if (this.#isPlain) return name.length >= this.#start.length + this.#end.length;
    if (!name.includes(this.#longest)) return false;
    this.#compiled ??= compile(this.#units);
    // `ignore` remembers every answer. A fresh one shares what is compiled and drops what is remembered.
    if (this.#asked === undefined || this.#questions >= 10_000) {
      this.#asked = ignore({ ignorecase: false }).add(this.#compiled);
      this.#questions = 0;
    }
    this.#questions += 1;
    return this.#asked.ignores(name);
  }
}

function isWild(unit: Unit): boolean {
  return unit === '*' || unit === '?' || unit.startsWith('[');
}

/** The longest piece of text that a name must contain, so that most names need no closer look. */
function longestLiteral(units: readonly Unit[]): string {
  let longest = '';
  let current = '';
  for (const unit of units) {
    current = isWild(unit) ? '' : current + unit.slice(-1);
    if (current.length > longest.length) longest = current;
  }
  return longest;
}

function compile(units: readonly Unit[]): Ignore {
  const pattern = units
    .filter((unit, at) => unit !== '*' || units[at - 1] !== '*')
    .map(asWritten)
    .join('');
  if (pattern.length > longestComponent)
    throw new SnapError('INTERNAL', 'An ignore pattern is too long.', { what: 'ignore pattern' });
  return ignore({ ignorecase: false }).add([pattern]);
}

/** In a form that means the same anywhere in a line: no comment, no negation, no blank that is trimmed. */
function asWritten(unit: Unit): string {
  if (isWild(unit)) return unit;
  const byte = unit.slice(-1);
  if (/[a-zA-Z0-9_\x80-\xff]/.test(byte)) return byte;
  return /[*[ \r\n]/.test(byte) ? `[${byte}]` : `\\${byte}`;
}
