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
