import { type AST, ParseError, getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';

/** What a TOML text says, and on which line of it a key stands. */
export interface Toml {
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of the key, else that of the nearest one around it; 1 is the first. Undefined where there is none. */
  lineOf(key: readonly PropertyKey[]): number | undefined;
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
      return undefined;
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
    note(node.resolvedKey, node.key.loc.start.line, lines);
    for (const inner of node.body) noteLines(inner, node.resolvedKey, lines);
    return;
  }
  const key = [...above, ...node.key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))];
  note(key, node.loc.start.line, lines);
  noteInside(node.value, key, lines);
}

function noteInside(value: AST.TOMLContentNode, key: Key, lines: Map<string, number>): void {
  if (value.type === 'TOMLInlineTable') for (const inner of value.body) noteLines(inner, key, lines);
  if (value.type !== 'TOMLArray') return;
  value.elements.forEach((element, index) => {
    note([...key, index], element.loc.start.line, lines);
    noteInside(element, [...key, index], lines);
  });
}

/** A table that is added to further down began where it was named first. */
function note(key: Key, line: number, lines: Map<string, number>): void {
  const name = nameOf(key);
  if (!lines.has(name)) lines.set(name, line);
}

function nameOf(key: readonly PropertyKey[]): string {
  return JSON.stringify(key.map(String));
}
