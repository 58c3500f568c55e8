import type { LeftOutReason } from './entry.js';
import type { JsonPath } from './entry-path.js';
import type { KeptData, PlannedChangeData, PointerData } from './documents.js';
import type { DecidingRule, ExcludesInForce, Explanation } from './plan-result.js';
import type { Policy } from './policy.js';
import type { MountKind } from './results.js';

/*
 * The documents of commands that say what would be: `explain`, `plan`, `du`, `stacks`.
 */

export interface RuleData {
  readonly kind: DecidingRule['kind'];
  readonly path: JsonPath;
  readonly pattern: JsonPath | null;
  readonly file: JsonPath | null;
  readonly line: number | null;
  readonly preset: string | null;
  readonly setting: string | null;
  readonly limit: number | null;
}

export interface ExplainData {
  readonly instance: string;
  readonly explanations: readonly {
    readonly mount: string;
    readonly path: JsonPath;
    readonly outcome: Explanation['outcome'];
    readonly reason: LeftOutReason | null;
    readonly rule: RuleData;
  }[];
}

export interface RefusalData {
  readonly code: string;
  readonly message: string;
}

export interface FiguresData {
  readonly files: number;
  readonly bytes: number;
}

export interface PlannedMountData {
  readonly name: string;
  readonly path: JsonPath;
  readonly kind: MountKind;
  readonly complete: boolean;
  readonly stored: FiguresData;
  readonly to_read: FiguresData;
  readonly left_out: readonly (FiguresData & {
    readonly reason: LeftOutReason;
    readonly entries: number;
    readonly unknown: boolean;
  })[];
  readonly excludes: readonly {
    readonly kind: ExcludesInForce['kind'];
    readonly file: JsonPath | null;
    readonly preset: string | null;
    readonly patterns: readonly JsonPath[];
  }[];
}

export interface ForeseenRestoreData {
  readonly which: 'latest' | 'first';
  readonly snapshot: PointerData;
  readonly possible: boolean;
  readonly refusals: readonly RefusalData[];
  readonly plan: readonly PlannedChangeData[];
  readonly kept: readonly KeptData[];
  readonly failed: readonly KeptData[];
  readonly messages: readonly string[];
}

export interface PlanData {
  readonly instance: string | null;
  readonly new_instance: boolean;
  readonly snapshot: { readonly would_be_made: boolean; readonly refusal: RefusalData | null };
  readonly policy: Policy | null;
  readonly mounts: readonly PlannedMountData[];
  readonly store: {
    readonly data_directory: JsonPath;
    readonly exists: boolean;
    readonly size_bytes: number;
    readonly free_bytes: number;
  };
  readonly restores: readonly ForeseenRestoreData[];
}

export interface UsageFiguresData {
  readonly bytes: number;
  readonly unique_bytes: number;
  readonly shared_bytes: number;
}

export interface UsageData {
  readonly instances: readonly (UsageFiguresData & {
    readonly instance: string;
    readonly snapshots: readonly (UsageFiguresData & { readonly seq: number })[];
    readonly prunable: { readonly snapshots: number; readonly freed_bytes: number };
  })[];
  readonly store: {
    readonly total_bytes: number;
    readonly reachable_bytes: number;
    readonly garbage_bytes: number;
    readonly overhead_bytes: number;
    readonly objects: number;
  };
}

export interface StackData {
  readonly name: string;
  readonly description: string;
  readonly source: 'built-in' | 'user';
  readonly file: string | null;
  readonly opt_in: boolean;
  readonly detect: readonly (readonly string[])[];
  readonly patterns: readonly string[];
}

export interface PresetFaultData {
  readonly line: number;
  readonly problem: string;
}

export interface StackListData {
  readonly presets: readonly StackData[];
  readonly invalid: readonly { readonly file: string; readonly problems: readonly PresetFaultData[] }[];
}

export interface StackShowData {
  readonly preset: StackData;
}

export interface StackValidationData {
  readonly accepted: boolean;
  readonly preset: StackData | null;
  readonly problems: readonly PresetFaultData[];
}

export interface StackApprovalData {
  readonly file: JsonPath;
  readonly approved: boolean;
  readonly presets: readonly StackData[];
}
