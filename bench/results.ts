import type { Measured } from './command.js';
import type { Input } from './inputs/recipe.js';
import type { Memory } from './process-tree.js';
import { moreOf, noMemory } from './process-tree.js';

/** What one tool took for one work on one input, in all runs. */
export interface Series {
  readonly row: string;
  readonly input: string;
  readonly tool: string;
  readonly seconds: readonly number[];
  readonly memory: Memory;
  /** What each run added to the store; empty where nothing is stored. */
  readonly bytes: readonly number[];
}

export class Results {
  readonly inputs: Input[] = [];
  readonly notes: string[] = [];
  private readonly byKey = new Map<string, Series>();

  add(row: string, input: string, tool: string, measured: Omit<Measured, 'output'>, bytesAdded?: number): void {
    const before = this.find(row, input, tool) ?? { row, input, tool, seconds: [], memory: noMemory, bytes: [] };
    this.byKey.set(keyOf(row, input, tool), {
      ...before,
      seconds: [...before.seconds, measured.seconds],
      memory: moreOf(before.memory, measured.memory),
      bytes: bytesAdded === undefined ? before.bytes : [...before.bytes, bytesAdded],
    });
  }

  /** A size alone: nothing was timed. */
  addSize(row: string, input: string, tool: string, size: number): void {
    this.byKey.set(keyOf(row, input, tool), { row, input, tool, seconds: [], memory: noMemory, bytes: [size] });
  }

  find(row: string, input: string, tool: string): Series | undefined {
    return this.byKey.get(keyOf(row, input, tool));
  }

  all(): Series[] {
    return [...this.byKey.values()];
  }

  /** Median seconds, or undefined where that was not measured. */
  seconds(row: string, input: string, tool: string): number | undefined {
    const series = this.find(row, input, tool);
    return series === undefined ? undefined : median(series.seconds);
  }

  bytes(row: string, input: string, tool: string): number | undefined {
    const series = this.find(row, input, tool);
    return series === undefined ? undefined : median(series.bytes);
  }

  /** The most memory that any process of ours held in any row on this input. */
  largestProcess(input: string): number | undefined {
    const ours = this.all().filter((series) => series.input === input && series.tool === 'jackin-snap');
    return ours.length === 0 ? undefined : Math.max(...ours.map(({ memory }) => memory.largest));
  }
}

export function median(numbers: readonly number[]): number | undefined {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return undefined;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)];
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function keyOf(...parts: readonly string[]): string {
  return parts.join('\0');
}
