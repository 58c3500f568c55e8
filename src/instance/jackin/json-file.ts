import { displayPath } from '../../core/entry-path.js';
import { SnapError } from '../../errors.js';
import { invalid, readTextFile } from './read-file.js';
import * as z from '../../core/schema.js';

/** One of jackin's JSON files, of the one version that we know. */
export interface JsonFormat<T> {
  readonly version: number;
  readonly schema: z.ZodMiniType<T>;
}

/** Undefined when there is no such file. @throws SnapError CONFIGURATION_INVALID, JACKIN_VERSION_UNKNOWN */
export function readJsonFile<T>(path: string, format: JsonFormat<T>): T | undefined {
  const text = readTextFile(path);
  return text === undefined ? undefined : parseJsonText(path, text, format);
}

/** @throws SnapError CONFIGURATION_INVALID, JACKIN_VERSION_UNKNOWN */
export function parseJsonText<T>(path: string, text: string, { version, schema }: JsonFormat<T>): T {
  const value = parse(path, text);
  const got = z.object({ version: z.unknown() }).safeParse(value);
  if (got.success && got.data.version !== undefined && got.data.version !== version)
    throw unknownVersion(path, got.data.version, version);
  return checked(path, value, schema);
}

export function unknownVersion(file: string, got: unknown, expected: unknown): SnapError<'JACKIN_VERSION_UNKNOWN'> {
  const [is, should] = [shown(got), shown(expected)];
  return new SnapError(
    'JACKIN_VERSION_UNKNOWN',
    `${displayPath(file)} is of version ${is}; this program reads version ${should}.`,
    { file, got: is, expected: should },
  );
}

/** @throws SnapError CONFIGURATION_INVALID naming the field */
export function checked<T>(file: string, value: unknown, schema: z.ZodMiniType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw invalid(file, `${field === '' ? 'the document' : field}: ${wordsOf(issue)}`);
}

function wordsOf(issue: z.core.$ZodIssue | undefined): string {
  return (issue?.message ?? 'not as expected').replace(/\.$/, '');
}

export function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    throw invalid(file, 'it is no JSON', error, lineIn(text, said));
  }
}

/** Where the parser stopped, by what it says. */
function lineIn(text: string, said: string): number {
  const position = /position (\d+)/.exec(said)?.[1];
  const before = position === undefined ? text : text.slice(0, Number(position));
  return before.split('\n').length;
}

function shown(version: unknown): string {
  return typeof version === 'string' ? version : JSON.stringify(version);
}
