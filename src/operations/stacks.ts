import { type HostPath, displayPath, textOfBytes } from '../core/entry-path.js';
import { builtInPresets } from '../core/stacks/built-in.js';
import type { StackPreset } from '../core/stacks/preset.js';
import type { StackApprovalResult, StackListResult, StackSummary, StackValidation } from '../core/stacks/result.js';
import { SnapError, systemCode } from '../errors.js';
import { readRecommendation, recommendationFile } from './capture/stacks-in-force.js';
import type { Context } from './context.js';

/*
 * Stack presets: which there are, and which a folder may have.
 */

/** Every preset, and files of the user's that are none. */
export async function listStacks(context: Context): Promise<StackListResult> {
  const files = await context.stackFiles.files();
  const own = files.flatMap(({ file, checked }) => (checked.preset === null ? [] : [ofUser(checked.preset, file)]));
  const presets = [...builtInPresets.map(builtIn), ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
  const invalid = files.flatMap(({ file, checked }) =>
    checked.problems === null ? [] : [{ file, problems: checked.problems }],
  );
  return { presets, invalid };
}

/** @throws SnapError USAGE when there is no such preset */
export async function showStack(context: Context, name: string): Promise<StackSummary> {
  return named((await listStacks(context)).presets, name);
}

/** Whether a file would be taken as a preset, wherever it lies. */
export async function validateStack(context: Context, file: HostPath): Promise<StackValidation> {
  const { preset, problems } = await context.stackFiles.check(file);
  return preset === null ? { preset, problems } : { preset: ofUser(preset, displayPath(file)), problems: [] };
}

/**
 * Approves what a folder recommends now. Any other content of its file has to be approved anew.
 * @throws SnapError PATH_NOT_FOUND when it recommends nothing, CONFIGURATION_INVALID when its file says anything else,
 * USAGE when it names a preset that is not there
 */
export async function approveStacks(context: Context, folder: HostPath): Promise<StackApprovalResult> {
  const { file, content } = recommendationIn(context, folder);
  const names = await context.stackFiles.readRecommendation(file, content);
  const { presets } = await listStacks(context);
  const approved = [...new Set(names)].map((name) => named(presets, name));
  context.stackFiles.setApproval(file, {
    sha256: context.host.digest(content),
    presets: approved.map(({ name }) => name),
  });
  return { file, approved: true, presets: approved };
}

/** Takes an approval back, be the folder there or not. */
// eslint-disable-next-line @typescript-eslint/require-await
export async function revokeStacks(context: Context, folder: HostPath): Promise<StackApprovalResult> {
  const file = recommendationFile(context.host.realPath(folder) ?? folder);
  context.stackFiles.setApproval(file, null);
  return { file, approved: false, presets: [] };
}

function recommendationIn(context: Context, folder: HostPath): { readonly file: HostPath; readonly content: string } {
  const real = context.host.realPath(folder) ?? folder;
  const file = recommendationFile(real);
  const content = contentIn(context, real);
  if (typeof content === 'string') return { file, content };
  const why = content === null ? 'cannot be read, or is too large' : 'is not there';
  throw new SnapError('PATH_NOT_FOUND', `${displayPath(file)} ${why}: the folder recommends nothing.`, {
    path: displayPath(file),
    where: 'recommendation',
  });
}

function contentIn(context: Context, folder: HostPath): string | null | undefined {
  try {
    const root = context.host.openMount(folder);
    try {
      return readRecommendation(root);
    } finally {
      root.close();
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function named(presets: readonly StackSummary[], name: string): StackSummary {
  const preset = presets.find((one) => one.name === name);
  if (preset !== undefined) return preset;
  throw new SnapError('USAGE', `There is no preset ${JSON.stringify(name)}.`, { what: 'preset' });
}

function builtIn(preset: StackPreset): StackSummary {
  return { ...preset, source: 'built-in', file: null };
}

function ofUser(preset: StackPreset, file: string): StackSummary {
  return { ...preset, source: 'user', file: textOfBytes(file) ?? file };
}
