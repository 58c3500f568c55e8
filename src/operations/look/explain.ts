import { decidingRule, noRule } from '../../core/deciding-rule.js';
import type { EntryStat, LeftOutReason } from '../../core/entry.js';
import { type EntryPath, joinPath, rootPath } from '../../core/entry-path.js';
import type { MountRecord } from '../../core/instance-record.js';
import { type Policy, withOverrides } from '../../core/policy.js';
import type { Directory } from '../../core/ports.js';
import type { ExplainRequest } from '../../core/requests.js';
import type { DecidingRule, ExplainResult, Explanation } from '../../core/plan-result.js';
import { mountRules, openRoot } from '../capture/capture-mounts.js';
import type { Decision, RulesOfDirectory } from '../capture/mount-rules.js';
import { ownPresets, stacksInForce } from '../capture/stacks-in-force.js';
import { isDenied } from '../capture/walk-failures.js';
import type { Context } from '../context.js';
import { resolvePath } from '../path-arguments.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';
import { instanceForSave } from '../session/instance-for-save.js';

/**
 * What a save would do with each path, and the rule that decides: the rules of a save are asked on the way to it, as a
 * walk does. Nothing is written. What only reading can show (a file that changes all the time) is not foreseen.
 */
export async function explain(context: Context, request: ExplainRequest): Promise<ExplainResult> {
  const { record } = instanceForSave(context, {});
  const policy = withOverrides(record.policy, request.overrides ?? {});
  const own = await ownPresets(context, policy);
  const temporaryPrefix = pendingTemporaryPrefix(context, record.name);
  const messages = new Set<string>();
  if (policy.max_total_size !== null)
    messages.add('Whether all of it fits into max_total_size shows only when it is saved; see "plan".');
  const names = record.mounts.map(({ name }) => name);
  const explanations: Explanation[] = [];
  for (const argument of request.paths) {
    const { mount: name, path } = resolvePath(names, argument);
    const mount = record.mounts.find((one) => one.name === name);
    if (mount === undefined) continue;
    const root = openRoot(context, mount);
    try {
      const stacks = stacksInForce(context, { policy, own }, mount, root);
      for (const message of stacks.messages) messages.add(message);
      const rules = mountRules(context, mount.path, root, {
        policy,
        stacks: stacks.detector,
        forced: null,
        temporaryPrefix,
        knownRepositories: new Map(),
      });
      explanations.push(await new Way(mount, policy, rules.outermost(), root).to(path));
    } finally {
      root.close();
    }
  }
  return { instance: record.name, explanations, messages: [...messages] };
}

/** The way from a mount's root to one path, as a walk goes it. */
class Way {
  readonly #mount: MountRecord;
  readonly #policy: Policy;
  readonly #open: Directory[] = [];
  #directory: Directory;
  #rules: RulesOfDirectory;
  /** What was decided about a directory that is entered only for something below it, and holds for all else in it. */
  #inherited: { readonly by: string; readonly rule: DecidingRule } | undefined;

  constructor(mount: MountRecord, policy: Policy, outermost: RulesOfDirectory, root: Directory) {
    this.#mount = mount;
    this.#policy = policy;
    this.#directory = root;
    this.#rules = outermost;
  }

  async to(path: EntryPath): Promise<Explanation> {
    try {
      this.#rules = await this.#rules.enter(rootPath, this.#directory, this.#directory.list());
      if (path === rootPath) return this.#said(path, 'stored', null, noRule);
      return await this.#along(path);
    } finally {
      // Only the innermost directory is usable while it is open.
      for (const directory of this.#open.reverse()) directory.close();
    }
  }

  async #along(path: EntryPath): Promise<Explanation> {
    let at = rootPath;
    let rule = noRule;
    for (const name of path.split('/')) {
      at = joinPath(at, name);
      const isLast = at === path;
      const stat = this.#statOf(name);
      if (stat === 'denied') return this.#leftOut(path, at, 'unreadable', { ...noRule, kind: 'unreadable', path: at });
      // A file where the path needs a directory: nothing is there.
      if (stat === undefined || (!isLast && stat.kind !== 'directory'))
        return this.#said(path, 'absent', null, stat === undefined ? this.#ruleFor(path, at, name) : noRule);
      const decision = this.#rules.decide(at, name, stat);
      rule = this.#ruleOf(decision, at, stat);
      if (!decision.store) return this.#leftOut(path, at, decision.reason, rule);
      if (!(await this.#canRead(at, name, stat)))
        return this.#leftOut(path, at, 'unreadable', { ...noRule, kind: 'unreadable', path: at });
      this.#inherited = decision.inherit === null ? undefined : { by: decision.by, rule };
    }
    return this.#said(path, 'stored', null, rule);
  }

  #statOf(name: string): EntryStat | 'denied' | undefined {
    try {
      return this.#directory.stat(name);
    } catch (error) {
      if (!isDenied(error)) throw error;
      return 'denied';
    }
  }

  /** Opens the entry as a save would; a directory is gone into. */
  async #canRead(at: EntryPath, name: string, stat: EntryStat): Promise<boolean> {
    try {
      if (stat.kind === 'symlink') this.#directory.readLink(name);
      if (stat.kind === 'file') this.#directory.openFile(name).close();
      if (stat.kind === 'directory') await this.#goInto(at, name, stat);
      return true;
    } catch (error) {
      if (isDenied(error)) return false;
      throw error;
    }
  }

  async #goInto(at: EntryPath, name: string, stat: EntryStat): Promise<void> {
    this.#rules.leaveOut(at, name, stat);
    this.#directory = this.#directory.enter(name);
    this.#open.push(this.#directory);
    this.#rules = await this.#rules.enter(at, this.#directory, this.#directory.list());
  }

  #ruleOf(decision: Decision, at: EntryPath, { kind }: Pick<EntryStat, 'kind'>): DecidingRule {
    if (decision.by === 'set_apart') {
      const isForeign = decision.reason === 'foreign_fs';
      return { ...noRule, kind: isForeign ? 'foreign_fs' : 'pending_restore', path: at };
    }
    const inherited = this.#inherited;
    if (inherited?.by === decision.by) return inherited.rule;
    const found = decidingRule({ by: decision.by, path: at, kind, rules: this.#rules.inForce, policy: this.#policy });
    if (decision.by !== 'tracked' || found.pattern !== null || inherited === undefined) return found;
    return { ...inherited.rule, kind: 'tracked', path: at };
  }

  /** What would decide about a small file at a path where nothing is. */
  #ruleFor(path: EntryPath, at: EntryPath, name: string): DecidingRule {
    const { dev } = this.#directory.statSelf();
    const kind = at === path ? 'file' : 'directory';
    const stat: EntryStat = { ...nothingThere, kind, dev };
    return this.#ruleOf(this.#rules.decide(at, name, stat), at, stat);
  }

  #leftOut(path: EntryPath, at: EntryPath, reason: LeftOutReason, rule: DecidingRule): Explanation {
    return this.#said(path, at === path ? 'observed_only' : 'left_out', reason, rule);
  }

  #said(
    path: EntryPath,
    outcome: Explanation['outcome'],
    reason: LeftOutReason | null,
    rule: DecidingRule,
  ): Explanation {
    return { mount: this.#mount.name, path, outcome, reason, rule };
  }
}

const nothingThere: Omit<EntryStat, 'kind' | 'dev'> = {
  ino: 0n,
  mode: 0o644,
  uid: 0,
  gid: 0,
  nlink: 1,
  size: 0,
  mtimeNs: 0n,
  ctimeNs: 0n,
  sparse: false,
};
