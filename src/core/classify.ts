import type { EntryStat, LeftOutReason } from './entry.js';
import type { EntryPath } from './entry-path.js';
import { ancestorsOf } from './entry-path.js';
import type { IgnoreRules, IgnoreVerdict, PatternSet } from './ignore-rules.js';
import type { Policy } from './policy.js';
import { isSecret, isWithinSecret } from './secrets.js';

/*
 * The one function that decides what is stored and what is only observed. Capture, diff and restore all use it.
 */

/** What is asked of one path. */
export interface PathQuestion {
  readonly path: EntryPath;
  readonly kind: EntryStat['kind'];
  readonly stat: Pick<EntryStat, 'dev' | 'ino' | 'size'>;
  /** The path's name is `.git`. */
  readonly isGitName: boolean;
}

/** What the user's repository tracks; such a path is never ignored. */
export interface TrackedPaths {
  has(path: EntryPath): boolean;
  hasBelow(directory: EntryPath): boolean;
}

export const nothingTracked: TrackedPaths = { has: () => false, hasBelow: () => false };

/** For a repository whose index cannot be read: nothing in it may be taken for ignored. */
export const possiblyTracked: TrackedPaths = { has: () => true, hasBelow: () => true };

/** The rules that go by name, as they hold in one directory. */
export interface NameRules {
  readonly policy: Pick<Policy, 'include_secrets'>;
  /** The base name of the mount's root. */
  readonly rootName: string;
  readonly includes: PatternSet;
  readonly excludes: PatternSet;
  /** Layers of the detected stacks' patterns; none when the policy turns stacks off. */
  readonly stacks: IgnoreRules;
  /** Layers of the ignore files; none when the policy turns them off. */
  readonly ignore: IgnoreRules;
}

/** Everything that decides in one directory of a walk. */
export interface RulesInForce extends NameRules {
  readonly policy: Pick<Policy, 'include_secrets' | 'max_file_size'>;
  readonly rootDev: bigint;
  /** Ours, when it may lie within the mount. */
  readonly dataDirectory: { readonly dev: bigint; readonly ino: bigint } | null;
  readonly tracked: TrackedPaths;
  /** What the directory's own classification said for its children; null for the root. */
  readonly inherited: Inherited;
  /**
   * Paths that must be stored whatever ignore rules, excludes and limits say, their parents included. Never overrides
   * special, foreign_fs, secret (unless the policy stores secrets) or the data directory.
   */
  force(path: EntryPath, kind: EntryStat['kind']): boolean;
}

/**
 * For the children of a stored directory: `included` by an include pattern as a whole, or entered only because something
 * below must be stored, while all else below is left out for the reason given. Null: nothing is settled.
 */
export type Inherited = 'included' | RuleCause | null;

type RuleCause = 'excluded' | 'stack' | 'ignored';

export type Classification =
  | { readonly store: true; readonly inherit: Inherited; readonly by: DecidedBy }
  | { readonly store: false; readonly reason: LeftOutReason; readonly by: DecidedBy };

/** What the answer rests on. `tracked`: a rule would leave it out, and the user's repository tracks it. */
export type DecidedBy =
  RuleCause | 'included' | 'tracked' | 'forced' | 'too_large' | 'data_directory' | FixedReason | 'nothing';

type FixedReason = 'special' | 'git_dir' | 'foreign_fs' | 'secret';

const entered: Record<'included' | RuleCause, Classification> = {
  included: { store: true, inherit: 'included', by: 'included' },
  excluded: { store: true, inherit: 'excluded', by: 'excluded' },
  stack: { store: true, inherit: 'stack', by: 'stack' },
  ignored: { store: true, inherit: 'ignored', by: 'ignored' },
};

const stored: Record<'nothing' | 'included' | 'tracked' | 'forced', Classification> = {
  nothing: { store: true, inherit: null, by: 'nothing' },
  included: { store: true, inherit: null, by: 'included' },
  tracked: { store: true, inherit: null, by: 'tracked' },
  forced: { store: true, inherit: null, by: 'forced' },
};

export function classify(question: PathQuestion, rules: RulesInForce): Classification {
  const { path, kind, stat } = question;
  const fixed = fixedReason(question, rules);
  if (fixed !== null) return { store: false, reason: fixed === 'data_directory' ? 'excluded' : fixed, by: fixed };
  if (kind === 'directory') return classifyDirectory(question, rules);
  if (rules.force(path, kind)) return stored.forced;
  const cause = causeOf(path, false, rules);
  if (isLeavingOut(cause)) return { store: false, reason: reasonOf(cause), by: cause };
  if (kind === 'file' && stat.size > rules.policy.max_file_size)
    return { store: false, reason: 'too_large', by: 'too_large' };
  return stored[cause ?? 'nothing'];
}

/** What no pattern can change. */
function fixedReason(question: PathQuestion, rules: RulesInForce): FixedReason | 'data_directory' | null {
  const { path, kind } = question;
  if (kind === 'special') return 'special';
  const reason = kind === 'directory' ? directoryReason(question, rules) : null;
  if (reason !== null) return reason;
  return !rules.policy.include_secrets && isSecret(path, kind, rules.rootName) ? 'secret' : null;
}

function directoryReason(
  { path, stat, isGitName }: PathQuestion,
  rules: RulesInForce,
): FixedReason | 'data_directory' | null {
  if (stat.ino === rules.dataDirectory?.ino && stat.dev === rules.dataDirectory.dev) return 'data_directory';
  if (isGitName && !rules.force(path, 'directory')) return 'git_dir';
  return stat.dev === rules.rootDev ? null : 'foreign_fs';
}

function classifyDirectory({ path }: PathQuestion, rules: RulesInForce): Classification {
  const cause = causeOf(path, true, rules);
  if (cause === 'included') return entered.included;
  if (!isLeavingOut(cause)) return stored[cause ?? 'nothing'];
  const mustEnter =
    (cause !== 'excluded' && rules.tracked.hasBelow(path)) ||
    rules.includes.leadsThrough(path) ||
    rules.force(path, 'directory');
  return mustEnter ? entered[cause] : { store: false, reason: reasonOf(cause), by: cause };
}

/** What the patterns say: an include wins over everything, and what is tracked is left out only by a configured exclude. */
function causeOf(path: EntryPath, isDirectory: boolean, rules: RulesInForce): Inherited | 'tracked' {
  const { inherited, includes, excludes } = rules;
  if (inherited === 'included' || includes.matches(path, isDirectory) === 'ignored') return 'included';
  if (inherited === 'excluded' || excludes.matches(path, isDirectory) === 'ignored') return 'excluded';
  const cause = inherited ?? unlessTrackedCause(path, isDirectory, rules);
  return cause !== null && rules.tracked.has(path) ? 'tracked' : cause;
}

function isLeavingOut(cause: Inherited | 'tracked'): cause is RuleCause {
  return cause !== null && cause !== 'included' && cause !== 'tracked';
}

function unlessTrackedCause(path: EntryPath, isDirectory: boolean, { stacks, ignore }: NameRules): RuleCause | null {
  if (stacks.matches(path, isDirectory) === 'ignored') return 'stack';
  return ignore.matches(path, isDirectory) === 'ignored' ? 'ignored' : null;
}

function reasonOf(cause: RuleCause): 'excluded' | 'ignored' {
  return cause === 'ignored' ? 'ignored' : 'excluded';
}

/**
 * Why the path may not be deleted: it is secret, excluded or ignored under the rules of the snapshot or today's, itself
 * or by a directory above it. What the rules leave in doubt counts; being tracked is no exemption here. The layers given
 * are those of the path's directory.
 */
export function protectedFromDeletion(
  path: EntryPath,
  isDirectory: boolean,
  rulesThen: NameRules,
  rulesNow: NameRules,
): 'secret' | 'excluded' | 'ignored' | null {
  return protectedUnder(path, isDirectory, rulesThen) ?? protectedUnder(path, isDirectory, rulesNow);
}

function protectedUnder(
  path: EntryPath,
  isDirectory: boolean,
  rules: NameRules,
): 'secret' | 'excluded' | 'ignored' | null {
  const kind = isDirectory ? 'directory' : 'file';
  if (!rules.policy.include_secrets && isWithinSecret(path, kind, rules.rootName)) return 'secret';
  for (const ancestor of ancestorsOf(path)) {
    const cause = ancestor === '' ? null : doubtfulCause(ancestor, true, rules);
    if (cause !== null) return cause === 'included' ? null : reasonOf(cause);
  }
  const cause = doubtfulCause(path, isDirectory, rules);
  return cause === null || cause === 'included' ? null : reasonOf(cause);
}

function doubtfulCause(path: EntryPath, isDirectory: boolean, rules: NameRules): Inherited {
  if (rules.includes.matches(path, isDirectory) === 'ignored') return 'included';
  if (mayIgnore(rules.excludes.matches(path, isDirectory))) return 'excluded';
  if (mayIgnore(rules.stacks.matches(path, isDirectory))) return 'stack';
  return mayIgnore(rules.ignore.matches(path, isDirectory)) ? 'ignored' : null;
}

function mayIgnore(verdict: IgnoreVerdict): boolean {
  return verdict === 'ignored' || verdict === 'unknown';
}
