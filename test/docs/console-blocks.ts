import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One command of a page and what the page says that it prints. */
export interface PageCommand {
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

export interface CodeBlock {
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

export function readPage(page: string): string {
  return readFileSync(resolve(import.meta.dirname, '../..', page), 'utf8');
}

/** The fenced blocks of a page, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; language: string; lines: string[] } | undefined;
  for (const [at, line] of readPage(page).split('\n').entries()) {
    const language = /^```(\S*)$/.exec(line)?.[1];
    if (language === undefined) open?.lines.push(line);
    else if (open === undefined) open = { line: at + 1, language, lines: [] };
    else {
      blocks.push({ line: open.line, language: open.language, text: open.lines.map((text) => `${text}\n`).join('') });
      open = undefined;
    }
  }
  return blocks;
}

/** The commands of a `console` block: a line that begins with `$ `, and the output up to the next. */
export function commandsIn({ line, text }: CodeBlock): PageCommand[] {
  const commands: { line: number; command: string; output: string }[] = [];
  for (const [at, content] of text.split('\n').slice(0, -1).entries()) {
    const last = commands.at(-1);
    if (content.startsWith('$ ')) commands.push({ line: line + at + 1, command: content.slice(2), output: '' });
    else if (last !== undefined) last.output += `${content}\n`;
    else throw new Error(`Line ${line + at + 1} is output of no command.`);
  }
  return commands;
}
