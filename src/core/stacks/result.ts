import type { HostPath } from '../entry-path.js';
import type { StackPreset } from './preset.js';

/** A preset, and where it comes from. */
export interface StackSummary extends StackPreset {
  readonly source: 'built-in' | 'user';
  /** The user's file, as text; null for a built-in one. */
  readonly file: string | null;
}

/** What is wrong with a preset's file. */
export interface PresetFault {
  readonly line: number;
  readonly problem: string;
}

export interface StackListResult {
  /** By name. */
  readonly presets: readonly StackSummary[];
  /** Files of the user's that are not in order: while there is one, saves are refused. */
  readonly invalid: readonly { readonly file: string; readonly problems: readonly PresetFault[] }[];
}

export type StackValidation =
  | { readonly preset: StackSummary; readonly problems: readonly [] }
  | { readonly preset: null; readonly problems: readonly PresetFault[] };

/** What a folder recommends, and whether that is in force by now. */
export interface StackApprovalResult {
  readonly file: HostPath;
  readonly approved: boolean;
  readonly presets: readonly StackSummary[];
}
