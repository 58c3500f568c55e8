import type { Hint } from './next-command.js';
import { UsageError } from './usage-error.js';

/*
 * What option values mean. Each parser throws a UsageError that quotes what it got.
 */

const sizeFactors = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 } as const;

/** A size in bytes: `1048576`, `100M`, `1.5G`, `512KiB`. Units are powers of 1024. */
export function parseSize(text: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?) *([KMGT]?)(?:i?B)?$/i.exec(text.trim());
  const factor = sizeFactors[(match?.[2] ?? '').toUpperCase() as keyof typeof sizeFactors];
  const size = Math.round(Number(match?.[1]) * factor);
  if (match === null || !Number.isSafeInteger(size) || size < 1) {
    throw new UsageError(`${JSON.stringify(text)} is no size: write 1048576, 100M or 2G.`);
  }
  return size;
}

const second = 1000;
const durations = { s: second, m: 60 * second, h: 3600 * second, d: 86_400 * second, w: 604_800 * second } as const;

/** A moment: an age such as `30m`, `2h`, `3d`, `1w`, or a date such as `2026-03-01` or `2026-03-01T14:00`. */
export function parseSince(text: string, now: Date): Date {
  const age = /^([0-9]+) *([smhdw])$/.exec(text.trim());
  if (age !== null) {
    const moment = new Date(now.getTime() - Number(age[1]) * durations[age[2] as keyof typeof durations]);
    if (!Number.isNaN(moment.getTime())) return moment;
  }
  const date =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/.exec(
      text.trim(),
    );
  // Without a zone, a date means the reader's own day: midnight in local time.
  const moment = date === null ? undefined : new Date(`${date[1] ?? ''}T${date[2] ?? '00:00'}${date[3] ?? ''}`);
  if (moment === undefined || Number.isNaN(moment.getTime())) {
    throw new UsageError(
      `${JSON.stringify(text)} is no time: write an age such as 30m, 2h or 3d, or a date such as 2026-03-01.`,
    );
  }
  return moment;
}

/** A whole number from 1 up. */
export function parseCount(text: string): number {
  const number = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  throw new UsageError(`${JSON.stringify(text)} is no number from 1 up.`);
}

/** A whole number of a hundred: `10`, `100`. */
export function parsePercent(text: string): number {
  const number = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= 100) return number;
  throw new UsageError(`${JSON.stringify(text)} is no percentage: write a whole number from 1 to 100.`);
}

/** Seconds: `30s`, `10m`, `2h`. */
export function parseDuration(text: string): number {
  const [, amount = '', unit = ''] = /^([0-9]{1,6}) *([smh])$/.exec(text.trim()) ?? [];
  const seconds = (Number(amount) * durations[unit as 's' | 'm' | 'h']) / second;
  if (seconds > 0) return seconds;
  throw new UsageError(`${JSON.stringify(text)} is no duration: write 30s, 10m or 2h.`);
}

/** `key=value`, split at the first "=". */
export function parseKeyValue(text: string, hint?: Hint): readonly [key: string, value: string] {
  const cut = text.indexOf('=');
  if (cut < 1) throw new UsageError(`${JSON.stringify(text)} is no KEY=VALUE.`, hint);
  return [text.slice(0, cut), text.slice(cut + 1)];
}

/** All `key=value` words as one record; the same key twice is refused. */
export function parseKeyValues(words: readonly string[], hint?: Hint): Readonly<Record<string, string>> {
  const seen = new Map<string, string>();
  for (const word of words) {
    const [key, value] = parseKeyValue(word, hint);
    if (seen.has(key)) throw new UsageError(`${JSON.stringify(key)} is set twice.`, hint);
    seen.set(key, value);
  }
  return Object.fromEntries(seen);
}

/** For options that may be given more than once. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** One of a few words. */
export function parseChoice<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((one) => one === text);
    if (choice === undefined) throw new UsageError(`${JSON.stringify(text)} is none of ${choices.join(', ')}.`);
    return choice;
  };
}
