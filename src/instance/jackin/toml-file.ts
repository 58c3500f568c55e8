import { type AST, ParseError, getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';
import type * as z from 'zod';

import type { SnapError } from '../../errors.js';
import { invalid, readTextFile } from './read-file.js';

/** A TOML file with the lines that its keys stand on. */
export interface TomlFile {
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of a key, or of the nearest one around it; counted from 1. */
  lineOf(key: readonly PropertyKey[]): number | undefined;
}

/** Undefined when there is no such file. @throws SnapError CONFIGURATION_INVALID with the line */
export function readTomlFile(path: string): TomlFile | undefined {
  const text = readTextFile(path);
  return text === undefined ? undefined : parseTomlText(path, text);
}

/** @throws SnapError CONFIGURATION_INVALID with the line */
export function parseTomlText(path: string, text: string): TomlFile {
  const program = parsed(path, text);
  const lines = new Map<string, number>();
  for (const node of program.body[0].body) noteLines(node, [], lines);
  return {
    path,
    value: getStaticTOMLValue(program),
    lineOf: (key) => {
      for (let length = key.length; length > 0; length--) {
        const line = lines.get(nameOf(key.slice(0, length)));
        if (line !== undefined) return line;
      }
      return undefined;
    },
  };
}

/** What stands at a key must be as the schema says. @throws SnapError CONFIGURATION_INVALID with the line */
export function checkedAt<T>(file: TomlFile, key: readonly PropertyKey[], value: unknown, schema: z.ZodType<T>): T {
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

function parsed(path: string, text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.0' });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw invalid(path, `it is no TOML: ${error.message.replace(/\.$/, '')}`, error, error.lineNumber);
  }
}

type Key = readonly (string | number)[];

function noteLines(node: AST.TOMLKeyValue | AST.TOMLTable, above: Key, lines: Map<string, number>): void {
  if (node.type === 'TOMLTable') {
    note(node.resolvedKey, node.key.loc.start.line, lines);
    for (const inner of node.body) noteLines(inner, node.resolvedKey, lines);
    return;
  }
  const key = [...above, ...node.key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))];
  note(key, node.loc.start.line, lines);
  noteValue(node.value, key, lines);
}

function noteValue(value: AST.TOMLContentNode, key: Key, lines: Map<string, number>): void {
  if (value.type === 'TOMLInlineTable') for (const inner of value.body) noteLines(inner, key, lines);
  if (value.type !== 'TOMLArray') return;
  value.elements.forEach((element, index) => {
    note([...key, index], element.loc.start.line, lines);
    noteValue(element, [...key, index], lines);
  });
}

function note(key: Key, line: number, lines: Map<string, number>): void {
  const name = nameOf(key);
  if (!lines.has(name)) lines.set(name, line);
}

function nameOf(key: readonly PropertyKey[]): string {
  return JSON.stringify(key.map(String));
}
