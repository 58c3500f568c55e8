import { describe, expect, test } from 'vitest';
import {
  parseCount,
  parseDuration,
  parseKeyValue,
  parseKeyValues,
  parsePercent,
  parseSince,
  parseSize,
} from '../../src/cli/options.js';
import { UsageError } from '../../src/cli/usage-error.js';

describe('parseSize', () => {
  test.each([
    ['1', 1],
    ['1048576', 1_048_576],
    ['100M', 104_857_600],
    ['1.5G', 1_610_612_736],
    ['2 KiB', 2048],
    ['3mb', 3_145_728],
    ['7B', 7],
    ['1T', 1_099_511_627_776],
  ])('%s is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  test.each(['', '0', '-1', 'M', '1X', '1e3', '0.1', '99999999T', '1,5M', '0x10'])('refuses %j', (text) =>
    expect(() => parseSize(text)).toThrow(UsageError),
  );
});

describe('parseSince', () => {
  const now = new Date('2026-03-08T12:00:00.000Z');

  test.each([
    ['30s', '2026-03-08T11:59:30.000Z'],
    ['5m', '2026-03-08T11:55:00.000Z'],
    ['2h', '2026-03-08T10:00:00.000Z'],
    ['3d', '2026-03-05T12:00:00.000Z'],
    ['1w', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01 14:30', '2026-03-01T14:30:00.000Z'],
    ['2026-03-01T14:30:15+02:00', '2026-03-01T12:30:15.000Z'],
    ['2026-03-01T14:30:15.250Z', '2026-03-01T14:30:15.250Z'],
  ])('%s is %s', (text, moment) => expect(parseSince(text, now).toISOString()).toBe(moment));

  test.each(['', 'yesterday', '2026-13-01', '2026-3-1', '5', '5 fortnights', '99999999999999999999d'])(
    'refuses %j',
    (text) => expect(() => parseSince(text, now)).toThrow(UsageError),
  );
});

describe('parseCount', () => {
  test('a whole number from 1 up', () => expect(parseCount('12')).toBe(12));
  test.each(['0', '-1', '1.5', '', 'x', '1e3'])('refuses %j', (text) =>
    expect(() => parseCount(text)).toThrow(UsageError),
  );
});

describe('parsePercent', () => {
  test.each([
    ['1', 1],
    ['10', 10],
    ['100', 100],
  ])('%s is %d', (text, percent) => expect(parsePercent(text)).toBe(percent));
  test.each(['0', '101', '-1', '1.5', '', '10%', 'x', '1e1'])('refuses %j and says what it takes', (text) =>
    expect(() => parsePercent(text)).toThrow(/from 1 to 100/),
  );
});

describe('parseDuration', () => {
  test.each([
    ['30s', 30],
    ['10m', 600],
    ['2h', 7200],
    [' 2 h ', 7200],
  ])('%s is %d seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds));
  test.each(['', '0s', '10', '-1s', '1.5h', '2 hours', 'h', '99999999999h'])(
    'refuses %j and says what it takes',
    (text) => expect(() => parseDuration(text)).toThrow(/30s, 10m or 2h/),
  );
});

describe('parseKeyValue', () => {
  test.each([
    ['a=1', ['a', '1']],
    ['a=', ['a', '']],
    ['a=b=c', ['a', 'b=c']],
  ])('%s', (text, pair) => expect(parseKeyValue(text)).toEqual(pair));
  test.each(['a', '=1', ''])('refuses %j', (text) => expect(() => parseKeyValue(text)).toThrow(UsageError));
  test('refuses the same key twice', () => expect(() => parseKeyValues(['a=1', 'a=2'])).toThrow(/twice/));
  test('a key may have any name', () => expect(Object.keys(parseKeyValues(['__proto__=1']))).toEqual(['__proto__']));
});
