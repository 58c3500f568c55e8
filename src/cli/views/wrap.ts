import stringWidth from 'fast-string-width';
import type { TextStyle } from './style.js';

/**
 * Parts of a line with spaces between, on as many lines as the terminal needs. No part is ever cut: a path or a command
 * stays one piece, to be read and copied, however long it is.
 * @param indent of the lines after the first
 */
export function wrapped(parts: readonly string[], { terminal, columns }: TextStyle, indent: number): string {
  if (!terminal) return parts.join(' ');
  const [first = '', ...rest] = parts;
  const lines = [first];
  for (const part of rest) {
    const line = lines.at(-1) ?? '';
    if (stringWidth(line) + 1 + stringWidth(part) <= columns) lines[lines.length - 1] = `${line} ${part}`;
    else lines.push(' '.repeat(indent) + part.trimStart());
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** A sentence as parts: it may be broken at every space. */
export function words(text: string): readonly string[] {
  return text.split(/(?<=\S) /);
}
