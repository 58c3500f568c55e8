import { type AST, ParseError, getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';

/** What a TOML text says, and on which line of it a key stands. */
export interface Toml {
  readonly value: unknown;
  /** The line of the key, else that of the nearest one around it; 1 is the first. */
  lineOf(key: readonly PropertyKey[]): number;
}

/** @throws TomlProblem */
export function parseToml(text: string): Toml {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text, { tomlVersion: '1.0' });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new TomlProblem(error.message.replace(/\.$/, ''), error.lineNumber, { cause: error });
  }
  const lines = new Map<string, number>();
  for (const node of program.body[0].body) noteLines(node, [], lines);
  return {
    value: getStaticTOMLValue(program),
    lineOf: (key) => {
      for (let length = key.length; length > 0; length--) {
        const line = lines.get(nameOf(key.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

/** The text is no TOML. */
export class TomlProblem extends Error {
  readonly line: number;

  constructor(message: string, line: number, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

type Key = readonly (string | number)[];

function noteLines(node: AST.TOMLKeyValue | AST.TOMLTable, above: Key, lines: Map<string, number>): void {
  if (node.type === 'TOMLTable') {
    lines.set(nameOf(node.resolvedKey), node.key.loc.start.line);
    for (const inner of node.body) noteLines(inner, node.resolvedKey, lines);
    return;
  }
  const key = [...above, ...node.key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))];
  lines.set(nameOf(key), node.loc.start.line);
  noteElements(node.value, key, lines);
}

function noteElements(value: AST.TOMLContentNode, key: Key, lines: Map<string, number>): void {
  if (value.type !== 'TOMLArray') return;
  value.elements.forEach((element, index) => {
    lines.set(nameOf([...key, index]), element.loc.start.line);
    noteElements(element, [...key, index], lines);
  });
}

function nameOf(key: readonly PropertyKey[]): string {
  return JSON.stringify(key.map(String));
}
