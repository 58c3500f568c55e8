import prettyBytes from 'pretty-bytes';
import { bytesOfText, displayPath } from '../library.js';

/*
 * How single values look in text. Whatever may hold foreign bytes goes through `displayPath` or `shown`.
 */

/** Any text that may be foreign (a message, a branch), safe for a terminal. */
export function shown(text: string): string {
  return displayPath(bytesOfText(text));
}

/** The subject of a message, safe for a terminal. */
export function subject(message: string): string {
  return shown(message.split('\n', 1)[0] ?? '');
}

export function sizeText(bytes: number): string {
  return prettyBytes(bytes, { binary: true });
}

/** `1,234,567`. What the runtime has for it takes long to get ready. */
export function grouped(count: number): string {
  return String(count).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
}

/** `1 file`, `2 files`, `1,234 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** `2026-03-01 14:05`, in the reader's own zone. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

const steps = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [7, 'd'],
  [52, 'wk'],
  [Infinity, 'y'],
] as const;

/** `5 s`, `3 min`, `2 h`, `6 d`, `7 wk`, `1 y`: how long ago. */
export function ageText(iso: string, now: Date): string {
  let amount = Math.max(0, (now.getTime() - new Date(iso).getTime()) / 1000);
  for (const [size, unit] of steps) {
    if (amount < size) return `${Math.floor(amount)} ${unit}`;
    amount /= size;
  }
  return '';
}

/** A path as it can be typed again: with its mount where there are several. */
export function pathText(mount: string, path: string, severalMounts: boolean): string {
  const shownPath = path === '' ? '.' : displayPath(path);
  return severalMounts ? `${mount}:${shownPath}` : shownPath;
}

const kindLetters = { file: '-', symlink: 'l', directory: 'd' } as const;

/** The mode as `ls -l` shows it. */
export function modeText(kind: keyof typeof kindLetters, mode: number): string {
  const triple = (shift: number, special: number, letter: string): string => {
    const bits = mode >> shift;
    const execute = (bits & 1) !== 0;
    const last = (mode & special) === 0 ? (execute ? 'x' : '-') : execute ? letter : letter.toUpperCase();
    return `${(bits & 4) === 0 ? '-' : 'r'}${(bits & 2) === 0 ? '-' : 'w'}${last}`;
  };
  return kindLetters[kind] + triple(6, 0o4000, 's') + triple(3, 0o2000, 's') + triple(0, 0o1000, 't');
}

/** The first names and how many more there are: `a, b, c and 4 more`. */
export function someOf(names: readonly string[], limit: number): string {
  if (names.length <= limit) return names.join(', ');
  return `${names.slice(0, limit).join(', ')} and ${grouped(names.length - limit)} more`;
}

/** The lines as text that ends with a newline; nothing for no lines. */
export function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
