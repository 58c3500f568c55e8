import { bytesOfText, joinPath, type EntryPath } from '../../core/entry-path.js';
import { type IgnoreRules, linesOf } from '../../core/ignore-rules.js';
import type { Policy } from '../../core/policy.js';
import type { ExcludesInForce } from '../../core/plan-result.js';
import type { StackDetector } from '../../core/stacks/detection.js';
import type { MountRules } from '../capture/mount-rules.js';

/** Every list of patterns that has a say in the mount, and where it stands. */
export function excludesInForce(policy: Policy, rules: MountRules, stacks: StackDetector): ExcludesInForce[] {
  const found: ExcludesInForce[] = [];
  for (const setting of ['exclude', 'include'] as const)
    if (policy[setting].length > 0)
      found.push({ ...noList, kind: setting, patterns: policy[setting].map(bytesOfText) });
  if (!policy.include_secrets) found.push({ ...noList, kind: 'secret' });
  for (const [directory, { ignore, stacks: ofStacks }] of rules.inDirectories()) {
    for (const { origin, content } of ownLayers(ofStacks, directory)) {
      const patterns = stacks.presets.find(({ name }) => name === origin)?.patterns.map(bytesOfText);
      found.push({ ...noList, kind: 'stack', preset: origin, file: directory, patterns: patterns ?? linesOf(content) });
    }
    for (const { origin, content } of ownLayers(ignore, directory))
      found.push({ ...noList, kind: 'ignore_file', file: below(directory, origin), patterns: patternsIn(content) });
  }
  return found;
}

const noList: Omit<ExcludesInForce, 'kind'> = { file: null, preset: null, patterns: [] };

/** What this directory added, in the order in which it was. */
function ownLayers(rules: IgnoreRules, directory: EntryPath): { readonly origin: string; readonly content: string }[] {
  const own = [];
  for (const { directory: of, source } of rules.layers()) {
    if (of !== directory) break;
    if (source !== null) own.unshift(source);
  }
  return own;
}

function below(directory: EntryPath, origin: string): EntryPath {
  return origin.split('/').reduce(joinPath, directory);
}

function patternsIn(content: string): string[] {
  return linesOf(content).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
