import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { progressLine, progressOn } from '../../src/cli/progress.js';
import type { Progress } from '../../src/core/results.js';

const progress = (changes: Partial<Progress> = {}): Progress => ({
  phase: 'scan',
  files: 1234,
  bytes: 5 * 1024 * 1024,
  totalFiles: null,
  totalBytes: null,
  ...changes,
});

describe('the progress line', () => {
  test.each([
    { given: progress(), seconds: 0.5, line: 'Reading    1234 files  5.0 MiB' },
    { given: progress(), seconds: 5, line: 'Reading    1234 files  5.0 MiB  1.0 MiB/s' },
    {
      given: progress({ phase: 'restore', totalFiles: 2468, totalBytes: 10 * 1024 * 1024 }),
      seconds: 5,
      line: 'Restoring  [##########          ]  1234 of 2468 files  5.0 MiB of 10.0 MiB  1.0 MiB/s  5 s left',
    },
    {
      given: progress({ phase: 'check', bytes: 0, totalFiles: 1234 }),
      seconds: 1,
      line: 'Checking   [####################]  1234 of 1234 files  0 B',
    },
    {
      given: progress({ phase: 'push', totalFiles: 2468 }),
      seconds: 5,
      line: 'Sending    [##########          ]  1234 of 2468 objects  5.0 MiB  1.0 MiB/s',
    },
  ])('$line', ({ given, seconds, line }) => expect(progressLine(given, { seconds, columns: 200 })).toBe(line));

  test('never wraps', () => {
    expect(progressLine(progress({ totalFiles: 9999 }), { seconds: 9, columns: 30 })).toHaveLength(29);
  });
});

test('appears after a moment of work, and is gone after stop', async () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  let now = 0;
  const display = progressOn({ terminal, columns: 100, elapsed: () => now });
  display.update(progress());
  expect(terminal.read()).toBeNull();
  now = 1;
  await vi.waitFor(() => {
    display.update(progress());
    expect(String(terminal.read())).toContain('1234 files');
  });
  display.stop();
  display.stop();
  const last = String(terminal.read());
  // The line is cleared; cursor and line wrap were never touched, so that a kill leaves the terminal as it was.
  expect(last).toMatch(/\x1b\[[012]?K/);
  expect(last).not.toMatch(/\x1b\[\?/);
});
