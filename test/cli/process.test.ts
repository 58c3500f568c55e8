import { describe, expect, test } from 'vitest';
import { call } from './call.js';
import { fakeSnap } from './fake-snap.js';

describe('progress', () => {
  test.each([
    { why: 'no terminal', argv: ['save'], terminal: false },
    { why: '--quiet', argv: ['save', '-q'], terminal: true },
    { why: '--json', argv: ['save', '--json'], terminal: true },
    { why: '--no-progress', argv: ['save', '--no-progress'], terminal: true },
  ])('is silent with $why', async ({ argv, terminal }) => {
    const { options } = await call(argv, { terminal });
    const before = options?.onProgress?.toString();
    expect(before).toContain('undefined');
  });
});

test('the library gets what the process has', async () => {
  const { options } = await call(['list'], { env: { A: 'b' } });
  expect(options).toMatchObject({ cwd: '/work/m', env: { A: 'b' }, signal: expect.any(AbortSignal) });
});

test('a library that cannot be opened is told like any other failure', async () => {
  const { code, stderr } = await call(['list'], {
    openSnap: () => Promise.reject(new Error('broken')),
    fake: fakeSnap(),
  });
  expect(code).toBe(1);
  expect(stderr).toContain('broken');
});
