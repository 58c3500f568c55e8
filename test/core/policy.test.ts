import { describe, expect, test } from 'vitest';

import { type Policy, defaultPolicy, policySchema, withOverrides, withSettings } from '../../src/core/policy.js';

test('the defaults are those of the contract', () => {
  expect(defaultPolicy).toEqual({
    exclude: [],
    include: [],
    gitignore: true,
    stacks: true,
    include_secrets: false,
    max_file_size: 536_870_912,
    max_total_size: null,
    on_limit: 'skip',
    keep_last: 50,
    keep_daily: 0,
    keep_weekly: 0,
    keep_emergency: 10,
    max_store_bytes: null,
    auto_prune: true,
    large_deletion_percent: 50,
    protect_commits: 'auto',
    more_stacks: [],
    snapshot: 'project',
    exit_policy: 'ask',
  });
});

describe('a setting given as text', () => {
  test.each<{ key: keyof Policy; text: string; value: unknown }>([
    { key: 'keep_last', text: '5', value: 5 },
    { key: 'keep_last', text: '1', value: 1 },
    { key: 'keep_last', text: '10000', value: 10_000 },
    { key: 'keep_daily', text: '0', value: 0 },
    { key: 'keep_emergency', text: '0', value: 0 },
    { key: 'exclude', text: '*.o,build/', value: ['*.o', 'build/'] },
    { key: 'exclude', text: '', value: [] },
    { key: 'include', text: 'dist', value: ['dist'] },
    { key: 'gitignore', text: 'false', value: false },
    { key: 'stacks', text: 'true', value: true },
    { key: 'on_limit', text: 'fail', value: 'fail' },
    { key: 'max_file_size', text: '1000', value: 1000 },
    { key: 'max_file_size', text: '2k', value: 2048 },
    { key: 'max_file_size', text: '1M', value: 1_048_576 },
    { key: 'max_file_size', text: '1MB', value: 1_048_576 },
    { key: 'max_file_size', text: '3GiB', value: 3_221_225_472 },
    { key: 'max_total_size', text: '1T', value: 1_099_511_627_776 },
    { key: 'max_total_size', text: 'none', value: null },
    { key: 'max_store_bytes', text: 'none', value: null },
  ])('$key=$text is $value', ({ key, text, value }) => {
    expect(withSettings(defaultPolicy, { [key]: text })).toEqual({ ...defaultPolicy, [key]: value });
  });

  test.each([
    { key: 'keep_last', text: '0' },
    { key: 'keep_last', text: '10001' },
    { key: 'keep_last', text: '-1' },
    { key: 'keep_last', text: '1.5' },
    { key: 'keep_last', text: '' },
    { key: 'keep_last', text: 'none' },
    { key: 'keep_last', text: 'many' },
    { key: 'keep_emergency', text: '0x10' },
    { key: 'max_file_size', text: '0' },
    { key: 'max_file_size', text: 'none' },
    { key: 'max_file_size', text: '1 GB' },
    { key: 'max_file_size', text: '9'.repeat(16) },
    { key: 'max_file_size', text: '999999999999999T' },
    { key: 'gitignore', text: 'yes' },
    { key: 'gitignore', text: 'TRUE' },
    { key: 'gitignore', text: '' },
    { key: 'on_limit', text: 'warn' },
    { key: 'keep_all', text: '1' },
    { key: '', text: '1' },
    { key: '__proto__', text: '1' },
    { key: 'constructor', text: '1' },
  ])('$key=$text is refused', ({ key, text }) => {
    expect(() => withSettings(defaultPolicy, Object.fromEntries([[key, text]]))).toThrow(
      expect.objectContaining({ code: 'USAGE' }),
    );
  });

  test.each([
    { key: 'keep_last', text: 'many', says: 'keep_last takes a whole number from 1 to 10000, not "many".' },
    { key: 'gitignore', text: 'yes', says: 'gitignore takes true or false, not "yes".' },
    { key: 'on_limit', text: 'warn', says: 'on_limit takes skip or fail, not "warn".' },
    { key: 'max_file_size', text: 'none', says: /^max_file_size takes a size from 1 up, .*100M.*, not "none"\.$/ },
    {
      key: 'keep_all',
      text: '1',
      says: /^There is no setting "keep_all"; there are exclude, .*exit_policy\.$/,
    },
  ])('$key=$text is refused with the setting, the value, and what it takes', ({ key, text, says }) => {
    expect(() => withSettings(defaultPolicy, { [key]: text })).toThrow(says);
  });

  test('is refused together with all others, and changes nothing that was not named', () => {
    const policy = { ...defaultPolicy, exclude: ['x'], max_total_size: 5 };
    expect(() => withSettings(policy, { keep_last: '7', keep_daily: 'x' })).toThrow(/keep_daily/);
    expect(withSettings(policy, { keep_last: '7', stacks: 'false' })).toEqual({
      ...policy,
      keep_last: 7,
      stacks: false,
    });
    expect(withSettings(policy, {})).toEqual(policy);
  });
});

test('what one save overrides: patterns are added, all else is replaced', () => {
  const policy = { ...defaultPolicy, exclude: ['a'], include: ['b'], max_file_size: 5 };
  expect(withOverrides(policy, {})).toEqual(policy);
  expect(withOverrides(policy, { exclude: ['c'], include: ['d'], gitignore: false, max_file_size: 6 })).toEqual({
    ...policy,
    exclude: ['a', 'c'],
    include: ['b', 'd'],
    gitignore: false,
    max_file_size: 6,
  });
  expect(withOverrides(policy, { gitignore: undefined, include_secrets: true })).toEqual({
    ...policy,
    include_secrets: true,
  });
});

test('a policy document may leave fields out, and may not have others', () => {
  expect(policySchema.parse({ keep_last: 3 })).toEqual({ ...defaultPolicy, keep_last: 3 });
  expect(policySchema.safeParse({ keep_lsat: 3 }).success).toBe(false);
});
