import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Judged } from '../goals.js';
import { median } from '../results.js';
import type { Session } from '../session.js';

/** All figures, and the machine that they hold for, as one JSON document. */
export function toDocument({ results, peers, settings }: Session, judged: readonly Judged[]): unknown {
  return {
    schema_version: '1',
    machine: {
      processors: cpus().length,
      model: cpus()[0]?.model ?? '',
      memory: totalmem(),
      kernel: release(),
      load: readFileSync('/proc/loadavg', 'latin1').trim(),
    },
    versions: { node: process.versions.node, ...peers.versions },
    seed: settings.seed,
    quick: settings.quick,
    inputs: results.inputs.map(({ name, files, bytes, distinctContents }) => {
      return { name, files, bytes, distinct_contents: distinctContents };
    }),
    rows: results.all().map(({ row, input, tool, seconds, memory, bytes }) => ({
      row,
      input,
      tool,
      median_seconds: median(seconds) ?? null,
      seconds,
      peak_memory: memory.largest,
      peak_memory_program: memory.program,
      peak_memory_together: memory.together,
      median_bytes_added: median(bytes) ?? null,
      bytes_added: bytes,
    })),
    goals: judged,
    notes: results.notes,
  };
}
