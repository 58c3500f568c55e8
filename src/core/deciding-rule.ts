import type { DecidedBy, RulesInForce } from './classify.js';
import { type EntryPath, bytesOfText } from './entry-path.js';
import { type IgnoreRules, PatternSet, linesOf } from './ignore-rules.js';
import type { Policy } from './policy.js';
import type { DecidingRule } from './plan-result.js';
import { secretPattern } from './secrets.js';

/*
 * What a decision of the classification rests on, for people. Nothing here decides: it looks for the pattern behind an
 * answer that was given.
 */

export interface Decided {
  readonly by: DecidedBy;
  readonly path: EntryPath;
  readonly kind: 'file' | 'directory' | 'symlink' | 'special';
  readonly rules: RulesInForce;
  readonly policy: Policy;
}

/** The rule behind a decision about just this path. */
export function decidingRule(decided: Decided): DecidingRule {
  const { by, path, rules } = decided;
  if (by === 'excluded') return inSetting(decided, 'exclude');
  if (by === 'included') return inSetting(decided, 'include');
  if (by === 'stack') return inLayers(decided, rules.stacks, 'stack');
  if (by === 'ignored') return inLayers(decided, rules.ignore, 'ignore_file');
  if (by === 'tracked') return { ...behindTracked(decided), kind: 'tracked' };
  return by === 'nothing' || by === 'forced' ? { ...noRule, path } : ofEntryItself(by, decided);
}

type ByEntryItself = Exclude<
  DecidedBy,
  'excluded' | 'included' | 'stack' | 'ignored' | 'tracked' | 'nothing' | 'forced'
>;

/** What no pattern decides. */
function ofEntryItself(by: ByEntryItself, { path, kind, policy }: Decided): DecidingRule {
  if (by === 'secret') return { ...noRule, kind: by, path, pattern: bytesOfText(secretPattern(path, kind)) };
  if (by !== 'too_large') return { ...noRule, kind: by, path };
  return { ...noRule, kind: 'size_limit', path, setting: 'max_file_size', limit: policy.max_file_size };
}

export const noRule: DecidingRule = {
  kind: 'none',
  path: '' as EntryPath,
  pattern: null,
  file: null,
  line: null,
  preset: null,
  setting: null,
  limit: null,
};

/** The last of a setting's patterns that matches is the one that decides. */
function inSetting({ path, kind, policy }: Decided, setting: 'exclude' | 'include'): DecidingRule {
  const patterns = policy[setting].map((text) => bytesOfText(text));
  const at = lastMatch(patterns, path, kind === 'directory');
  return { ...noRule, kind: setting, path, setting, pattern: patterns[at] ?? null };
}

function inLayers({ path, kind }: Decided, layers: IgnoreRules, of: 'stack' | 'ignore_file'): DecidingRule {
  for (const { directory, source } of layers.layers()) {
    const prefix = directory === '' ? '' : `${directory}/`;
    if (source === null || !path.startsWith(prefix)) continue;
    const lines = linesOf(source.content);
    const at = lastMatch(lines, path.slice(prefix.length), kind === 'directory');
    const pattern = lines[at];
    if (pattern === undefined) continue;
    const found = { ...noRule, kind: of, path, pattern };
    if (of === 'stack') return { ...found, preset: source.origin, file: directory };
    return { ...found, file: `${prefix}${source.origin}` as EntryPath, line: at + 1 };
  }
  return { ...noRule, kind: of, path };
}

/** What would have left it out. */
function behindTracked(decided: Decided): DecidingRule {
  const { inherited, stacks } = decided.rules;
  const isDirectory = decided.kind === 'directory';
  if (inherited === 'stack' || inherited === 'ignored') return { ...noRule, path: decided.path };
  if (stacks.matches(decided.path, isDirectory) === 'ignored') return inLayers(decided, stacks, 'stack');
  return inLayers(decided, decided.rules.ignore, 'ignore_file');
}

/** Where in the list the last pattern stands that matches, be it one that takes back; -1 for none. */
function lastMatch(patterns: readonly string[], path: string, isDirectory: boolean): number {
  return patterns.findLastIndex((pattern) => {
    const verdict = new PatternSet([pattern]).matches(path as EntryPath, isDirectory);
    return verdict === 'ignored' || verdict === 'included';
  });
}
