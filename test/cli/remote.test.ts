import { describe, expect, test } from 'vitest';
import { call } from './call.js';
import { fetched, pushed } from './fake-remote.js';
import { fakeSnap } from './fake-snap.js';

describe('push', () => {
  test('says what went, what was there and what stays, whatever the remote is called', async () => {
    const { stdout, code } = await call(['push', 'x']);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^Pushed snapshots 3, 4 of t to \/srv\/.*r\.git\.$/),
      'Already there: 1 snapshot.',
      "Left out: t/2: it holds state of a session's agents; --state pushes it.",
      '',
    ]);
    expect(stdout).not.toContain('\x1b');
  });

  test.each([
    { refused: fetched.refused, leftOut: [], code: 4, says: 'Refused: t/4: what came is no snapshot: its commit' },
    { refused: [], leftOut: [{ ...pushed.pushed[0]!, reason: 'damaged' as const }], code: 7, says: 'see "verify"' },
  ])('what does not go is said even when quiet, and is exit $code', async ({ refused, leftOut, code, says }) => {
    const fake = fakeSnap({ push: () => Promise.resolve({ ...pushed, pushed: [], refused, leftOut }) });
    const called = await call(['-q', 'push', 'x'], { fake });
    expect(called.code).toBe(code);
    expect(called.stdout).toContain(says);
    expect(called.stdout).toContain('Nothing was pushed to');
    expect(called.stdout).not.toContain('\x1b');
  });

  test.each([
    { argv: ['push', 'r'], terminal: true, mayAsk: true },
    { argv: ['--json', 'push', 'r'], terminal: true, mayAsk: false },
    { argv: ['-q', 'push', 'r'], terminal: true, mayAsk: false },
    { argv: ['push', 'r'], terminal: false, mayAsk: false },
  ])('git may ask on a terminal only: $argv', async ({ argv, terminal, mayAsk }) => {
    const { request } = await call(argv, { terminal });
    expect(request).toMatchObject({ remote: 'r', snapshots: [], mayAsk });
  });

  test('hands on what it was told', async () => {
    const argv = 'push --all --dry-run --state --include-secrets --credential-helper cache r 1 latest'.split(' ');
    const { request } = await call(argv);
    expect(request).toEqual({
      ...{ all: true, dryRun: true, state: true, includeSecrets: true, credentialHelper: 'cache', mayAsk: false },
      ...{ remote: 'r', snapshots: ['1', 'latest'] },
    });
  });
});

describe('fetch', () => {
  test('names what it refused, and ends with 4', async () => {
    const fake = fakeSnap({ fetch: () => Promise.resolve(fetched) });
    const { code, stdout, stderr } = await call(['fetch', 'host:r.git'], { fake });
    expect(code).toBe(4);
    expect(stdout).toContain('Fetched snapshot 3 of t from host:r.git.');
    expect(stdout).toContain('Refused: t/4');
    expect(stderr).toContain('2 refs with other names');
  });

  test('takes a size', async () => {
    const { request } = await call(['fetch', '--max-size', '2K', 'r']);
    expect(request).toEqual({ remote: 'r', mayAsk: false, maxBytes: 2048 });
    expect((await call(['fetch', '--max-size', 'x', 'r'])).code).toBe(2);
    expect((await call(['fetch'])).stderr).toContain('push ssh://');
  });
});
