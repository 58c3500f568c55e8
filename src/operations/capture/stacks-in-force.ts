import { type HostPath, displayPath, hostPathBelow } from '../../core/entry-path.js';
import type { MountRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { Directory } from '../../core/ports.js';
import { builtInPresets } from '../../core/stacks/built-in.js';
import { StackDetector } from '../../core/stacks/detection.js';
import { noDetector, presetsInForce, usualDetector } from '../../core/stacks/in-force.js';
import { presetLimits, type StackPreset } from '../../core/stacks/preset.js';
import { SnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/** Where a folder says which presets suit it: it can name them, and nothing else. */
export const recommendationName = '.jackin-snap.toml';

export interface StacksInForce {
  readonly detector: StackDetector;
  /** What the user has to know of it: a recommendation that nobody has approved, a preset that is gone. */
  readonly messages: readonly string[];
}

export interface StackQuestion {
  readonly policy: Pick<Policy, 'stacks' | 'more_stacks'>;
  /** The user's presets. */
  readonly own: readonly StackPreset[];
}

/**
 * The user's presets, where they matter. They are read once for all mounts: a file that changes meanwhile is one preset.
 * @throws SnapError CONFIGURATION_INVALID when one is not in order: nothing is to be stored, or left out, by mistake
 */
export async function ownPresets(context: Context, policy: Pick<Policy, 'stacks'>): Promise<readonly StackPreset[]> {
  return policy.stacks ? context.stackFiles.presets() : [];
}

/**
 * The presets in force in a mount: those that are by themselves, those that the instance's settings name, and those that
 * the folder recommends where the user has approved just that.
 * @throws SnapError USAGE when a setting names a preset that is not there
 */
export function stacksInForce(
  context: Context,
  { policy, own }: StackQuestion,
  mount: Pick<MountRecord, 'name' | 'path'>,
  root: Directory,
): StacksInForce {
  if (!policy.stacks) return { detector: noDetector, messages: [] };
  const { names, messages } = recommended(context, mount, root);
  if (own.length + names.length + policy.more_stacks.length === 0) return { detector: usualDetector, messages };
  const all = allPresets(own);
  refuseUnknown(all, policy.more_stacks);
  const gone = names.filter((name) => !all.some((preset) => preset.name === name));
  return {
    detector: new StackDetector(presetsInForce(all, [...policy.more_stacks, ...names])),
    messages: [...messages, ...gone.map((name) => goneMessage(mount, name))],
  };
}

/** The policy of a snapshot for a look at today's folder: a preset that it names may be gone by now. */
export async function withPresetsThatAreThere(context: Context, policy: Policy): Promise<Policy> {
  if (policy.more_stacks.length === 0) return policy;
  const all = allPresets(await ownPresets(context, policy));
  return { ...policy, more_stacks: policy.more_stacks.filter((name) => all.some((preset) => preset.name === name)) };
}

/** The built-in presets and the user's, by name. */
export function allPresets(own: readonly StackPreset[]): readonly StackPreset[] {
  return [...builtInPresets, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What would be left out without the preset must not get into a snapshot unseen. */
export function refuseUnknown(all: readonly StackPreset[], named: readonly string[]): void {
  const unknown = named.find((name) => !all.some((preset) => preset.name === name));
  if (unknown === undefined) return;
  const message = `The setting more_stacks names ${unknown}, and there is no such preset.`;
  throw new SnapError('USAGE', message, { what: 'preset' });
}

function goneMessage({ path }: Pick<MountRecord, 'path'>, name: string): string {
  return `${displayPath(path)} recommends the preset ${name}, which was approved and is not there any more: nothing is left out for it.`;
}

function recommended(
  context: Context,
  mount: Pick<MountRecord, 'name' | 'path'>,
  root: Directory,
): { readonly names: readonly string[]; readonly messages: readonly string[] } {
  const content = readRecommendation(root);
  if (content === undefined) return { names: [], messages: [] };
  const file = recommendationFile(mount.path);
  const approval = content === null ? undefined : context.stackFiles.approval(file);
  if (content !== null && approval?.sha256 === context.host.digest(content))
    return { names: approval.presets, messages: [] };
  const what =
    approval === undefined ? 'recommends stack presets' : 'recommends other stack presets than were approved';
  const way =
    content === null
      ? `it cannot be read, or is larger than ${String(presetLimits.bytes)} bytes`
      : `look at it, and approve it with: jackin-snap stacks approve ${displayPath(mount.path)}`;
  return { names: [], messages: [`${displayPath(file)} ${what}, which are not in force: ${way}`] };
}

export function recommendationFile(mount: HostPath): HostPath {
  return hostPathBelow(mount, recommendationName);
}

/** The bytes of the file; undefined when there is none, null when it cannot be read or is none of ours. */
export function readRecommendation(root: Directory): string | null | undefined {
  try {
    if (root.stat(recommendationName)?.kind !== 'file') return undefined;
    const file = root.openFile(recommendationName);
    try {
      const { kind, size } = file.stat();
      if (kind !== 'file' || size > presetLimits.bytes) return null;
      // One more than may be: what grows meanwhile is not cut off unseen.
      const bytes = Buffer.alloc(presetLimits.bytes + 1);
      let filled = 0;
      for (let read = file.read(bytes); read > 0; read = file.read(bytes.subarray(filled))) filled += read;
      return filled > presetLimits.bytes ? null : bytes.toString('latin1', 0, filled);
    } finally {
      file.close();
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return systemCode(error) === 'ENOENT' ? undefined : null;
  }
}
