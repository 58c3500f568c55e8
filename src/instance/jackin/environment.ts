import type { EnvironmentName } from '../../core/jackin/configuration.js';
import * as z from '../../core/schema.js';

const tableSchema = z.record(z.string(), z.unknown());

/** The names in an `env` table, and how their values are had. No value leaves this function. */
export function environmentNames(table: unknown, from: EnvironmentName['from']): EnvironmentName[] {
  const parsed = tableSchema.safeParse(table);
  return Object.entries(parsed.data ?? {}).map(([name, value]) => ({ name, from, kind: kindOf(value) }));
}

function kindOf(value: unknown): EnvironmentName['kind'] {
  if (typeof value !== 'string') return 'secret_store';
  if (value.startsWith('op://')) return 'secret_store';
  return /^\$(\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)$/.test(value) ? 'host' : 'literal';
}
