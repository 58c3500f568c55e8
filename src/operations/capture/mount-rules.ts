import {
  type Classification,
  type Inherited,
  type NameRules,
  type RulesInForce,
  type TrackedPaths,
  classify,
  nothingTracked,
  possiblyTracked,
} from '../../core/classify.js';
import type { EntryStat, LeftOutReason, StoredEntry } from '../../core/entry.js';
import { type EntryPath, type HostPath, baseName, isWithin, parentPath, rootPath } from '../../core/entry-path.js';
import { IgnoreRules, type PatternSet, patternSet } from '../../core/ignore-rules.js';
import type { Policy } from '../../core/policy.js';
import type { Directory } from '../../core/ports.js';
import { type StackDetector, contentOf } from '../../core/stacks/detection.js';
import type { StackPreset } from '../../core/stacks/preset.js';
import { systemCode } from '../../errors.js';
import type { Repositories, UserRepository } from '../context.js';
import type { DirectoryRules } from './level.js';

/** Paths whose capture does not depend on rules. */
export interface Forced {
  /** What a snapshot stores: the same paths are looked at now, and all that stands in a file's or link's place. */
  readonly stored: ReadonlyMap<EntryPath, StoredEntry>;
  /** Take in whole the repositories that the snapshot does not know. */
  readonly newRepositories: boolean;
  /** What a snapshot left out, to be left out again. */
  readonly leftOut?: ReadonlyMap<EntryPath, LeftOutReason>;
}

export interface FoundRepository {
  readonly path: EntryPath;
  readonly repository: UserRepository;
}

export interface MountRulesOptions {
  readonly policy: Policy;
  /** The presets in force; none where the policy turns them off. */
  readonly stacks: StackDetector;
  readonly mountPath: HostPath;
  readonly rootDev: bigint;
  /** Where something is mounted in the mount: the device alone does not show a bind mount. */
  readonly mountPoints: ReadonlySet<EntryPath>;
  readonly dataDirectory: { readonly dev: bigint; readonly ino: bigint } | undefined;
  readonly repositories: Repositories;
  readonly forced: Forced | null;
  readonly temporaryPrefix: string | null;
  /** Repositories that were read already, by folder. */
  readonly knownRepositories: ReadonlyMap<EntryPath, UserRepository>;
  /** A short name for a text. */
  readonly keyOf: (text: string) => string;
}

/** The rules of one mount, read as the walk goes down. */
export class MountRules {
  readonly options: MountRulesOptions;
  readonly includes: PatternSet;
  readonly excludes: PatternSet;
  readonly rootName: string;
  readonly repositories: FoundRepository[] = [];
  readonly excludeFiles: { path: EntryPath; content: string }[] = [];
  /** Directories whose ignore rules could not be read. */
  readonly unknown: EntryPath[] = [];
  readonly #byDirectory = new Map<EntryPath, NameRules>();
  readonly #newRepositoryFolders = new Set<EntryPath>();

  constructor(options: MountRulesOptions) {
    this.options = options;
    this.includes = patternSet(options.policy.include);
    this.excludes = patternSet(options.policy.exclude);
    this.rootName = baseName(options.mountPath as string as EntryPath);
  }

  /** What stands above the root: no ignore file yet. */
  outermost(): RulesOfDirectory {
    return new RulesOfDirectory(this, {
      key: this.#outermostKey(),
      ignore: IgnoreRules.none(),
      stacks: IgnoreRules.none(),
      tracked: nothingTracked,
      inherited: null,
    });
  }

  /** Everything that decides and does not lie in the mount, apart from forced paths. */
  #outermostKey(): string {
    const { policy, stacks, mountPath, rootDev, mountPoints, dataDirectory, temporaryPrefix, keyOf } = this.options;
    const { dev, ino } = dataDirectory ?? { dev: 0n, ino: 0n };
    const places = [mountPath, rootDev, dev, ino].map(String);
    // A preset may be found in a directory long before anybody writes it.
    return keyOf(JSON.stringify([policy, stacks.key(), places, [...mountPoints].sort(), temporaryPrefix]));
  }

  /** A repository in a part of the mount that is taken over unwalked. */
  addRepository(path: EntryPath, repository: UserRepository): void {
    this.repositories.push({ path, repository });
    if (!this.options.policy.gitignore) return;
    if (repository.excludeUnreadable) this.unknown.push(path);
    else if (repository.excludeFile !== null) this.excludeFiles.push({ path, content: repository.excludeFile });
  }

  remember(path: EntryPath, rules: NameRules): void {
    this.#byDirectory.set(path, rules);
  }

  /** The rules by name of every directory that was entered. */
  inDirectories(): ReadonlyMap<EntryPath, NameRules> {
    return this.#byDirectory;
  }

  /** The rules by name in force where the path lies. */
  rulesFor(path: EntryPath): NameRules {
    for (let at = parentPath(path); ; at = parentPath(at)) {
      const rules = this.#byDirectory.get(at);
      if (rules !== undefined) return rules;
      if (at === rootPath) return this.nameRules(IgnoreRules.none(), IgnoreRules.none());
    }
  }

  nameRules(ignore: IgnoreRules, stacks: IgnoreRules): NameRules {
    return {
      policy: this.options.policy,
      rootName: this.rootName,
      includes: this.includes,
      excludes: this.excludes,
      ignore,
      stacks,
    };
  }

  /** True when a path lies in a repository of its own within the repository at `folder`. */
  isInInnerRepository(path: EntryPath, folder: EntryPath): boolean {
    return this.repositories.some(
      ({ path: inner }) => inner !== folder && isWithin(inner, folder) && isWithin(path, inner),
    );
  }

  /** What no rule by name or size decides: our own files, what an earlier look left out, what is mounted there. */
  setApart(path: EntryPath, name: string, stat: EntryStat): LeftOutReason | undefined {
    const { temporaryPrefix, forced, mountPoints } = this.options;
    if (temporaryPrefix !== null && name.startsWith(temporaryPrefix)) return 'excluded';
    const before = forced?.leftOut?.get(path);
    return before ?? (stat.kind === 'directory' && mountPoints.has(path) ? 'foreign_fs' : undefined);
  }

  noteRepositoryFolder(path: EntryPath): void {
    const { forced } = this.options;
    if (forced?.newRepositories === true && path !== rootPath && !forced.stored.has(path))
      this.#newRepositoryFolders.add(path);
  }

  isForced(path: EntryPath, kind: EntryStat['kind']): boolean {
    const { forced } = this.options;
    if (forced === null) return false;
    const stored = forced.stored.get(path);
    // A repository in the place of a `.git` file makes way only where new repositories do.
    if (stored !== undefined && stored.kind !== 'directory' && kind === 'directory' && baseName(path) === '.git')
      return forced.newRepositories && parentPath(path) !== rootPath;
    if (stored !== undefined || this.#isInNewRepository(path)) return true;
    return baseName(path) !== '.git' && this.#standsInPlaceOfStored(path);
  }

  /** True for what a snapshot stores although its name is a secret's: it was asked for. */
  isStoredSecret(path: EntryPath): boolean {
    return this.options.forced?.stored.has(path) ?? false;
  }

  #isInNewRepository(path: EntryPath): boolean {
    if (this.options.forced?.newRepositories !== true) return false;
    if (baseName(path) === '.git' && parentPath(path) !== rootPath && !this.options.forced.stored.has(path))
      return true;
    for (let at = path; at !== rootPath; at = parentPath(at)) if (this.#newRepositoryFolders.has(at)) return true;
    return false;
  }

  #standsInPlaceOfStored(path: EntryPath): boolean {
    const stored = this.options.forced?.stored;
    for (let at = parentPath(path); at !== rootPath; at = parentPath(at)) {
      const entry = stored?.get(at);
      if (entry !== undefined) return entry.kind !== 'directory';
    }
    return false;
  }
}

interface Situation {
  readonly key: string;
  readonly ignore: IgnoreRules;
  readonly stacks: IgnoreRules;
  readonly tracked: TrackedPaths;
  readonly inherited: Inherited;
}

/** A larger ignore file is nobody's by hand, and is not read; git reads no more either. */
export const ignoreFileAtMost: number = 100 * 1024 * 1024;

/** What a walk does with an entry, and what decides that. */
export type Decision =
  Classification | { readonly store: false; readonly reason: LeftOutReason; readonly by: 'set_apart' };

export class RulesOfDirectory implements DirectoryRules {
  readonly #mount: MountRules;
  readonly #situation: Situation;
  readonly #rules: RulesInForce;
  readonly #rulesForStoredSecrets: RulesInForce;
  /** What the classification of a directory said for its children, until the walk enters it. */
  readonly #inherit = new Map<EntryPath, Inherited>();

  constructor(mount: MountRules, situation: Situation) {
    this.#mount = mount;
    this.#situation = situation;
    const { policy, rootDev, dataDirectory } = mount.options;
    this.#rules = {
      ...mount.nameRules(situation.ignore, situation.stacks),
      policy,
      rootDev,
      dataDirectory: dataDirectory ?? null,
      tracked: situation.tracked,
      inherited: situation.inherited,
      force: (path, kind) => mount.isForced(path, kind),
    };
    this.#rulesForStoredSecrets = { ...this.#rules, policy: { ...policy, include_secrets: true } };
  }

  get key(): string {
    return this.#situation.key;
  }

  get recordedKey(): string {
    return this.#mount.options.forced === null ? this.key : `${this.key} and forced paths`;
  }

  get inForce(): RulesInForce {
    return this.#rules;
  }

  leaveOut(path: EntryPath, name: string, stat: EntryStat): LeftOutReason | null {
    const answer = this.decide(path, name, stat);
    if (!answer.store) return answer.reason;
    if (stat.kind === 'directory') this.#inherit.set(path, answer.inherit);
    return null;
  }

  decide(path: EntryPath, name: string, stat: EntryStat): Decision {
    const apart = this.#mount.setApart(path, name, stat);
    if (apart !== undefined) return { store: false, reason: apart, by: 'set_apart' };
    const rules = this.#mount.isStoredSecret(path) ? this.#rulesForStoredSecrets : this.#rules;
    return classify({ path, kind: stat.kind, stat, isGitName: name === '.git' }, rules);
  }

  async enter(path: EntryPath, directory: Directory, names: readonly string[]): Promise<RulesOfDirectory> {
    const inherited = this.#inherit.get(path) ?? null;
    this.#inherit.delete(path);
    let situation: Situation = { ...this.#situation, inherited };
    if (names.includes('.git')) situation = await this.#withRepository(situation, path, directory);
    if (this.#mount.options.policy.gitignore && names.includes('.gitignore'))
      situation = this.#withIgnoreFile(situation, path, directory);
    situation = this.#withStacks(situation, path, names);
    this.#mount.remember(path, this.#mount.nameRules(situation.ignore, situation.stacks));
    return new RulesOfDirectory(this.#mount, situation);
  }

  async #withRepository(situation: Situation, path: EntryPath, directory: Directory): Promise<Situation> {
    const kind = directory.stat('.git')?.kind;
    if (kind !== 'directory' && kind !== 'file') return situation;
    this.#mount.noteRepositoryFolder(path);
    const { knownRepositories, repositories } = this.#mount.options;
    const repository = knownRepositories.get(path) ?? (await repositories.read(directory, kind));
    if (repository === undefined) return situation;
    this.#mount.addRepository(path, repository);
    return {
      ...situation,
      key: this.#keyWith(situation, path, `repository ${repository.fingerprint}`),
      tracked: trackedBelow(path, repository),
      ignore: this.#withExcludeFile(situation.ignore, path, repository),
    };
  }

  #withExcludeFile(
    ignore: IgnoreRules,
    path: EntryPath,
    { excludeFile, excludeUnreadable }: UserRepository,
  ): IgnoreRules {
    if (!this.#mount.options.policy.gitignore) return ignore;
    if (excludeUnreadable) return ignore.withUnreadable(path);
    return excludeFile === null ? ignore : ignore.with(path, excludeFile, '.git/info/exclude');
  }

  #withIgnoreFile(situation: Situation, path: EntryPath, directory: Directory): Situation {
    const content = readIgnoreFile(directory);
    if (content === undefined) return situation;
    const key = this.#keyWith(situation, path, content === null ? 'unreadable' : `ignore ${content}`);
    if (content !== null) return { ...situation, key, ignore: situation.ignore.with(path, content, '.gitignore') };
    this.#mount.unknown.push(path);
    return { ...situation, key, ignore: situation.ignore.withUnreadable(path) };
  }

  #withStacks(situation: Situation, path: EntryPath, names: readonly string[]): Situation {
    const found = this.#mount.options.stacks.foundIn(names);
    if (found.length === 0) return situation;
    const key = this.#keyWith(situation, path, `stacks ${found.map(contentOf).join('\n')}`);
    return { ...situation, key, stacks: withPresets(situation.stacks, path, found) };
  }

  #keyWith({ key }: Situation, path: EntryPath, what: string): string {
    return this.#mount.options.keyOf(JSON.stringify([key, path, what]));
  }
}

/** Each preset as a layer of its own: none takes back what another leaves out. */
export function withPresets(stacks: IgnoreRules, folder: EntryPath, found: readonly StackPreset[]): IgnoreRules {
  return found.reduce((layers, preset) => layers.with(folder, contentOf(preset), preset.name), stacks);
}

/** The repository's index as it answers for paths of the mount. */
function trackedBelow(folder: EntryPath, { tracked }: UserRepository): TrackedPaths {
  if (tracked === null) return possiblyTracked;
  const relative = (path: EntryPath): string => (folder === rootPath ? path : path.slice(folder.length + 1));
  return { has: (path) => tracked.has(relative(path)), hasBelow: (path) => tracked.hasBelow(relative(path)) };
}

/** Undefined when it is no rule file (git does not follow a link there either), null when it cannot be read. */
function readIgnoreFile(directory: Directory): string | null | undefined {
  try {
    if (directory.stat('.gitignore')?.kind !== 'file') return undefined;
    const file = directory.openFile('.gitignore');
    try {
      const { kind, size } = file.stat();
      if (kind !== 'file') return undefined;
      if (size > ignoreFileAtMost) return null;
      const bytes = Buffer.allocUnsafe(size);
      let filled = 0;
      for (let read = file.read(bytes); read > 0 && filled < size; read = file.read(bytes.subarray(filled)))
        filled += read;
      return bytes.toString('latin1', 0, filled);
    } finally {
      file.close();
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (systemCode(error) === undefined) throw error;
    return null;
  }
}
