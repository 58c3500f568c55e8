import { expect, test } from 'vitest';

import { activeOwner, parseActivity } from '../../src/core/activity.js';
import type { Processes } from '../../src/core/ports.js';

const processes: Processes = { startOf: (pid) => (pid === 7 ? '100' : undefined), bootId: () => 'boot' };
const activity = (change: object = {}): string => JSON.stringify({ pid: 7, start: '100', bootId: 'boot', ...change });
const unknown = 'an owner that cannot be made out';

test.each([
  { what: 'nobody marked it active', text: undefined, owner: null },
  { what: 'its owner lives', text: activity(), owner: 'process 7' },
  { what: 'its owner is gone', text: activity({ pid: 8 }), owner: null },
  { what: 'the number is that of another process by now', text: activity({ start: '99' }), owner: null },
  { what: 'the machine was started anew since', text: activity({ bootId: 'before' }), owner: null },
  { what: 'the file is empty', text: '', owner: unknown },
  { what: 'the file is torn', text: activity().slice(0, 10), owner: unknown },
  { what: 'the file is no object', text: '7', owner: unknown },
  { what: 'the number is none', text: activity({ pid: 'x' }), owner: unknown },
  { what: 'the number is 0', text: activity({ pid: 0 }), owner: unknown },
  { what: 'the number is negative', text: activity({ pid: -1 }), owner: unknown },
  { what: 'something is missing', text: activity({ start: undefined }), owner: unknown },
])('the owner is $owner when $what', ({ text, owner }) => {
  expect(activeOwner(text, processes)).toBe(owner);
});

test('an activity is read as it was written', () => {
  expect(parseActivity(activity())).toEqual({ pid: 7, start: '100', bootId: 'boot' });
});
