import type { SnapError } from '../../errors.js';
import { type Toml, TomlProblem, parseToml } from '../toml.js';
import { invalid, readTextFile } from './read-file.js';
import type * as z from '../../core/schema.js';

/** A TOML file, with the lines that its keys stand on. */
export interface TomlFile extends Toml {
  readonly path: string;
}

/** Undefined when there is no such file. @throws SnapError CONFIGURATION_INVALID with the line */
export function readTomlFile(path: string): TomlFile | undefined {
  const text = readTextFile(path);
  return text === undefined ? undefined : parseTomlText(path, text);
}

/** @throws SnapError CONFIGURATION_INVALID with the line */
export function parseTomlText(path: string, text: string): TomlFile {
  try {
    return { path, ...parseToml(text) };
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    throw invalid(path, `it is no TOML: ${error.message}`, error, error.line);
  }
}

/** What stands at a key must be as the schema says. @throws SnapError CONFIGURATION_INVALID with the line */
export function checkedAt<T>(file: TomlFile, key: readonly PropertyKey[], value: unknown, schema: z.ZodMiniType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw invalid(file.path, 'it is not as expected');
  throw problemAt(file, [...key, ...issue.path, ...unknownKey(issue)], issue.message.replace(/\.$/, ''));
}

export function problemAt(
  file: TomlFile,
  key: readonly PropertyKey[],
  problem: string,
): SnapError<'CONFIGURATION_INVALID'> {
  return invalid(file.path, `${key.map(String).join('.')}: ${problem}`, undefined, file.lineOf(key));
}

function unknownKey(issue: z.core.$ZodIssue): readonly string[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
}
