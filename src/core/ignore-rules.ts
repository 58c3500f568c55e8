import type { EntryPath } from './entry-path.js';
import { bytesOfText } from './entry-path.js';
import type { IgnorePattern, PathPart, PatternMatch } from './ignore-pattern.js';
import { anyDirectories, fitsParts, parseIgnorePattern } from './ignore-pattern.js';

/**
 * What the rules say about a path. `unknown`: a rule file could not be read, or a pattern not be evaluated, and it may
 * decide; then a path is stored, and it is not deleted.
 */
export type IgnoreVerdict = 'ignored' | 'included' | 'none' | 'unknown';

/**
 * The ignore files in force in one directory, with git's semantics: the last pattern that matches decides, deeper files
 * win over shallower ones. Immutable; going down one level adds a layer. Git never looks below an ignored directory, so
 * the walk asks for parents first. Contents and paths are bytes.
 */
export class IgnoreRules {
  readonly #layer: Layer | null;
  readonly #compiled: Map<string, PatternList>;

  private constructor(layer: Layer | null, compiled: Map<string, PatternList>) {
    this.#layer = layer;
    this.#compiled = compiled;
  }

  /** No rules at all. What is compiled on the way down is remembered by content. */
  static none(): IgnoreRules {
    return new IgnoreRules(null, new Map());
  }

  /**
   * Adds the content of `directory`'s ignore file (or, as the first layer, of `.git/info/exclude`).
   * @param origin what `layers` says that it is
   */
  with(directory: EntryPath, content: string, origin = ''): IgnoreRules {
    const patterns = this.#compile(content);
    return patterns.runs.length === 0 ? this : this.#below(directory, patterns, { origin, content });
  }

  /** Adds an ignore file that exists and cannot be read: nothing below is certain. */
  withUnreadable(directory: EntryPath): IgnoreRules {
    return this.#below(directory, null);
  }

  matches(path: EntryPath, isDirectory: boolean): IgnoreVerdict {
    if (this.#layer === null) return 'none';
    const question = new Question(path, isDirectory);
    for (let layer: Layer | null = this.#layer; layer !== null; layer = layer.above) {
      if (!path.startsWith(layer.prefix)) continue;
      if (layer.patterns === null) question.doubtAll();
      else if (question.isDecidedBy(layer.patterns, layer.prefix.length)) break;
    }
    return question.verdict();
  }

  /** What was added, the last first: that is the order in which they decide. */
  *layers(): Generator<IgnoreLayer> {
    for (let layer = this.#layer; layer !== null; layer = layer.above) yield layer;
  }

  #below(directory: EntryPath, patterns: PatternList | null, source: LayerSource | null = null): IgnoreRules {
    const prefix = directory === '' ? '' : `${directory}/`;
    return new IgnoreRules({ above: this.#layer, directory, prefix, patterns, source }, this.#compiled);
  }

  #compile(content: string): PatternList {
    const known = this.#compiled.get(content);
    if (known) return known;
    const patterns = new PatternList(linesOf(content));
    if (this.#compiled.size >= 1000) this.#compiled.clear();
    this.#compiled.set(content, patterns);
    return patterns;
  }
}

/** Patterns in gitignore's syntax, relative to the mount's root. */
export class PatternSet {
  readonly #patterns: PatternList;
  readonly isEmpty: boolean;

  constructor(lines: readonly string[]) {
    this.#patterns = new PatternList(lines);
    this.isEmpty = this.#patterns.runs.length === 0;
  }

  matches(path: EntryPath, isDirectory: boolean): IgnoreVerdict {
    if (this.isEmpty) return 'none';
    const question = new Question(path, isDirectory);
    question.isDecidedBy(this.#patterns, 0);
    return question.verdict();
  }

  /** True when a pattern with a fixed start may match something below the directory: `a/b/*.c` leads through `a`. */
  leadsThrough(directory: EntryPath): boolean {
    return this.#patterns.leadsThrough(directory);
  }
}

/** The configured patterns, as text (that is how a policy holds them). */
export function patternSet(patterns: readonly string[]): PatternSet {
  return new PatternSet(patterns.map(bytesOfText));
}

/** One ignore file in force, or what stands for one. */
export interface IgnoreLayer {
  readonly directory: EntryPath;
  /** Null for one that could not be read. */
  readonly source: LayerSource | null;
}

export interface LayerSource {
  readonly origin: string;
  readonly content: string;
}

interface Layer extends IgnoreLayer {
  readonly above: Layer | null;
  /** The directory with its slash; '' for the root. */
  readonly prefix: string;
  /** Null when they could not be read. */
  readonly patterns: PatternList | null;
}

/** Line ends and the byte order mark as git reads them; a line ends at a NUL. */
export function linesOf(content: string): string[] {
  const text = content.startsWith('\xef\xbb\xbf') ? content.slice(3) : content;
  return text.split('\n').map((line) => {
    const end = line.indexOf('\0');
    const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line;
    return end < 0 ? trimmed : trimmed.slice(0, end);
  });
}

/** One path that is asked for. What several patterns need of it is computed once. */
class Question {
  readonly path: string;
  readonly name: string;
  readonly isDirectory: boolean;
  #verdict: 'ignored' | 'included' | 'none' = 'none';
  #maybeIgnored = false;
  #maybeIncluded = false;

  constructor(path: string, isDirectory: boolean) {
    this.path = path;
    this.name = path.slice(path.lastIndexOf('/') + 1);
    this.isDirectory = isDirectory;
  }

  isDecidedBy(patterns: PatternList, prefixLength: number): boolean {
    const below = patterns.looksAtPaths ? this.path.slice(prefixLength) : '';
    for (const run of patterns.runs) {
      const answer = run.covers(this, below);
      if (answer === true) {
        this.#verdict = run.negative ? 'included' : 'ignored';
        return true;
      }
      if (answer === undefined) this.#doubt(run.negative);
    }
    return false;
  }

  doubtAll(): void {
    this.#maybeIgnored = true;
    this.#maybeIncluded = true;
  }

  verdict(): IgnoreVerdict {
    const doubt = this.#verdict === 'ignored' ? this.#maybeIncluded : this.#maybeIgnored;
    return doubt ? 'unknown' : this.#verdict;
  }

  #doubt(negative: boolean): void {
    if (negative) this.#maybeIncluded = true;
    else this.#maybeIgnored = true;
  }
}

/** The patterns of one file in runs of the same sign, the last run first: within a run the order does not matter. */
class PatternList {
  readonly runs: readonly PatternRun[];
  readonly looksAtPaths: boolean;

  constructor(lines: readonly string[]) {
    const runs: PatternRun[] = [];
    for (const line of lines) {
      const pattern = line === '' ? undefined : parseIgnorePattern(line);
      if (!pattern) continue;
      if (runs[0]?.negative !== pattern.negative) runs.unshift(new PatternRun(pattern.negative));
      runs[0]?.add(pattern);
    }
    this.runs = runs;
    this.looksAtPaths = runs.some((run) => run.looksAtPaths);
  }

  leadsThrough(directory: EntryPath): boolean {
    return this.runs.some((run) => !run.negative && run.leadsThrough(directory));
  }
}

interface Restricted<Match> {
  readonly match: Match;
  readonly directoriesOnly: boolean;
}

type Matches<Kind extends PatternMatch['kind']> = Restricted<Extract<PatternMatch, { kind: Kind }>>;

class PatternRun {
  readonly negative: boolean;
  // Value: whether it holds for directories only.
  readonly #names = new Map<string, boolean>();
  readonly #extensions = new Map<string, boolean>();
  readonly #paths = new Map<string, boolean>();
  readonly #endings: Matches<'ending'>[] = [];
  readonly #components: Matches<'component'>[] = [];
  readonly #wildPaths: Matches<'components'>[] = [];

  constructor(negative: boolean) {
    this.negative = negative;
  }

  get looksAtPaths(): boolean {
    return this.#paths.size > 0 || this.#wildPaths.length > 0;
  }

  add({ match, directoriesOnly }: IgnorePattern): void {
    switch (match.kind) {
      case 'name':
        return note(this.#names, match.name, directoriesOnly);
      case 'path':
        return note(this.#paths, match.path, directoriesOnly);
      case 'ending':
        if (/^\.[^.]+$/.test(match.ending)) note(this.#extensions, match.ending, directoriesOnly);
        else this.#endings.push({ match, directoriesOnly });
        return;
      case 'component':
        this.#components.push({ match, directoriesOnly });
        return;
      case 'components':
        this.#wildPaths.push({ match, directoriesOnly });
    }
  }

  /** Undefined when none matches and one could not be evaluated. */
  covers(question: Question, below: string): boolean | undefined {
    const { name, isDirectory } = question;
    if (holds(this.#names, name, isDirectory) || holds(this.#paths, below, isDirectory)) return true;
    if (this.#extensions.size > 0) {
      const dot = name.lastIndexOf('.');
      if (dot >= 0 && holds(this.#extensions, name.slice(dot), isDirectory)) return true;
    }
    for (const { match, directoriesOnly } of this.#endings) {
      if ((isDirectory || !directoriesOnly) && name.endsWith(match.ending)) return true;
    }
    return this.#coversWild(name, below, isDirectory);
  }

  leadsThrough(directory: EntryPath): boolean {
    for (const path of this.#paths.keys()) if (path.startsWith(`${directory}/`)) return true;
    if (this.#wildPaths.length === 0) return false;
    const names = directory.split('/');
    return this.#wildPaths.some(({ match }) =>
      match.alternatives.some((parts) => tryFit(() => startFits(names, parts))),
    );
  }

  #coversWild(name: string, below: string, isDirectory: boolean): boolean | undefined {
    const named = someFit(this.#components, isDirectory, ({ component }) => component.fits(name));
    if (named === true || this.#wildPaths.length === 0) return named;
    let names: readonly string[] | undefined;
    const located = someFit(this.#wildPaths, isDirectory, ({ alternatives }) =>
      alternatives.some((parts) => {
        const last = parts.at(-1);
        if (last !== anyDirectories && last?.fits(name) === false) return false;
        names ??= below.split('/');
        return fitsParts(names, parts);
      }),
    );
    return located === false ? named : located;
  }
}

/** Undefined when none fits and one could not be evaluated. */
function someFit<Match>(
  matches: readonly Restricted<Match>[],
  isDirectory: boolean,
  fits: (match: Match) => boolean,
): boolean | undefined {
  let answer: boolean | undefined = false;
  for (const { match, directoriesOnly } of matches) {
    if (directoriesOnly && !isDirectory) continue;
    const fit = tryFit(() => fits(match));
    if (fit) return true;
    if (fit === undefined) answer = undefined;
  }
  return answer;
}

/** Undefined when the pattern is one that `ignore` cannot take: nobody knows what it matches. */
function tryFit(evaluate: () => boolean): boolean | undefined {
  try {
    return evaluate();
  } catch {
    return undefined;
  }
}

function note(map: Map<string, boolean>, key: string, directoriesOnly: boolean): void {
  map.set(key, directoriesOnly && map.get(key) !== false);
}

function holds(map: Map<string, boolean>, key: string, isDirectory: boolean): boolean {
  if (map.size === 0) return false;
  const directoriesOnly = map.get(key);
  return directoriesOnly === false || (directoriesOnly === true && isDirectory);
}

/** Whether all names fit the first parts and more is left. A leading `**` leads nowhere in particular. */
function startFits(names: readonly string[], parts: readonly PathPart[]): boolean {
  if (parts[0] === anyDirectories) return false;
  for (const [at, name] of names.entries()) {
    const part = parts[at];
    if (part === anyDirectories) return true;
    if (!part?.fits(name)) return false;
  }
  return parts.length > names.length;
}
