import { SnapError } from '../../errors.js';
import { builtInPresets } from './built-in.js';
import { StackDetector } from './detection.js';
import type { StackPreset } from './preset.js';

/** Those that are in force by themselves, and those that are asked for by name. */
export function presetsInForce(all: readonly StackPreset[], named: readonly string[]): readonly StackPreset[] {
  return all.filter(({ name, optIn }) => !optIn || named.includes(name));
}

/** What is in force where nobody has presets of their own, nor asks for any: a snapshot that names none means these. */
export const usualPresets: readonly StackPreset[] = presetsInForce(builtInPresets, []);

export const usualDetector: StackDetector = new StackDetector(usualPresets);

export const noDetector: StackDetector = new StackDetector([]);

/** @throws SnapError USAGE for a name that no preset has */
export function findPreset(all: readonly StackPreset[], name: string): StackPreset {
  const preset = all.find((one) => one.name === name);
  if (preset !== undefined) return preset;
  throw new SnapError('USAGE', `There is no preset ${JSON.stringify(name)}.`, { what: 'preset' });
}
