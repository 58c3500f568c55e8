import { describe, expect, test } from 'vitest';
import { explain, explanations } from '../../src/cli/explain.js';
import { nextCommand } from '../../src/cli/next-command.js';
import { SnapError, type SnapErrorCode, type SnapErrorData } from '../../src/errors.js';
import { call } from './call.js';
import { fakeSnap, pointer } from './fake-snap.js';

const instance = 'web';

/** Every code with data as the library gives it, the exit code of the contract, and what the hint must hold. */
const rows: { readonly [Code in SnapErrorCode]: readonly [data: SnapErrorData[Code], exitCode: number, hint: string] } =
  {
    USAGE: [{ what: 'setting' }, 2, 'instance show'],
    CONFIGURATION_INVALID: [{ file: '/d/config', problem: 'x' }, 2, '/d/config'],
    JACKIN_VERSION_UNKNOWN: [{ file: '/j', got: '3', expected: '2' }, 2, 'save --mount'],
    JACKIN_NOT_FOUND: [{ selector: 'x' }, 3, 'instance import jackin'],
    SNAPSHOTS_OFF: [{ instance }, 4, '-i web instance set snapshot=project'],
    SNAPSHOT_NOT_FOUND: [{ selector: '9', instance }, 3, '-i web list'],
    SNAPSHOT_AMBIGUOUS: [{ selector: '0' }, 2, 'list'],
    SNAPSHOT_PINNED: [{ snapshot: 'web/3' }, 4, 'unpin web/3'],
    INSTANCE_NOT_FOUND: [{ instance }, 3, '-i web save'],
    INSTANCE_AMBIGUOUS: [{ candidates: ['a', 'b'] }, 2, '-i a, -i b'],
    PATH_NOT_FOUND: [{ path: 'x', where: '3' }, 3, 'tree'],
    NOTHING_TO_UNDO: [{ instance }, 3, 'list'],
    NOTHING_PENDING: [{ instance }, 3, 'list'],
    INSTANCE_ACTIVE: [{ instance, owner: 'pid 3' }, 4, '-i web instance deactivate'],
    INSTANCE_CLOSED: [{ instance }, 4, '--to DIR'],
    MOUNTS_DIFFER: [{ instance }, 4, 'instance show'],
    MOUNT_GONE: [{ mount: 'm', path: '/m' }, 4, '--to DIR'],
    MOUNT_REPLACED: [{ mount: 'm', path: '/m' }, 4, '--force'],
    MOUNT_CHANGED: [{ what: 'directory' }, 4, 'try again'],
    MOUNT_UNSAFE: [{ path: '/', why: 'x' }, 4, 'save --allow-unsafe-mount'],
    RESTORE_PENDING: [{ instance }, 4, 'recover --continue'],
    GIT_STATE_ABSENT: [
      { snapshot: 'demo/3' },
      3,
      'Restore the files alone, and protect commits from now on: jackin-snap save --protect-commits',
    ],
    GIT_STATE_REFUSED: [
      { path: '.git', why: 'x' },
      4,
      'Restore it into a new folder: jackin-snap restore SNAP --git-state --to DIR',
    ],
    STATE_ABSENT: [{ snapshot: 'web/3' }, 3, 'instance set snapshot=project-and-state'],
    JACKIN_OWNED: [{ path: '/j/data', snapshot: 'web/3' }, 4, 'jackin-snap restore web/3 --state --to DIR'],
    LIMIT_EXCEEDED: [{ path: 'big' }, 4, '--max-file-size'],
    DESTINATION_EXISTS: [{ path: '/d' }, 4, 'nothing is yet'],
    CONFIRMATION_NEEDED: [{ what: 'restore' }, 5, '--yes'],
    ACKNOWLEDGEMENT_NEEDED: [{ instance: 't', names: ['m:to pic'] }, 5, "--acknowledge 'm:to pic'"],
    LARGE_DELETION: [{ mount: 'm', deleted: 200, held: 300 }, 5, '--allow-large'],
    DECLINED: [{ what: 'restore' }, 5, '--dry-run'],
    INCOMPLETE_REFUSED: [{ paths: ['no', 'bad\xff'] }, 6, 'save'],
    SNAPSHOT_DAMAGED: [{ snapshot: '3' }, 7, 'verify --full'],
    FORMAT_UNKNOWN: [{ snapshot: '3', format: '9' }, 7, 'update'],
    STORE_DAMAGED: [{ problem: 'x' }, 7, 'verify --full'],
    JOURNAL_DAMAGED: [{ file: '/d/j' }, 7, 'doctor'],
    BUSY: [{ lock: 'x', holder: 'pid 12' }, 8, 'pid 12'],
    GIT_MISSING: [{ program: 'git' }, 9, 'git --version'],
    GIT_TOO_OLD: [{ found: '1', needed: '2.36' }, 9, '2.36'],
    GIT_FAILED: [{ command: 'repack', exitCode: 128 }, 1, 'doctor'],
    NO_SPACE: [{ path: '/d' }, 9, 'space'],
    DATA_DIR_OPEN: [{ path: "/it's", mode: '755' }, 9, String.raw`chmod 700 '/it'\''s'`],
    SYSTEM_FAILED: [{ problem: 'EIO', pending: 'web' }, 1, 'recover --abort'],
    DATA_DIR_DENIED: [{ path: '/d' }, 9, 'ls -ld /d'],
    REF_EXISTS: [{ ref: 'refs/x' }, 8, 'try again'],
    INTERRUPTED: [{ signal: 'SIGTERM' }, 143, 'list'],
    NOT_A_REPOSITORY: [{ path: '/f' }, 4, 'git init'],
    REPOSITORY_UNSUITABLE: [{ path: '/f', why: 'x' }, 4, 'run -- CMD'],
    WORKTREE_NOT_FOUND: [{ name: 'w' }, 3, 'run list'],
    WORKTREE_EXISTS: [{ name: 'w' }, 4, 'run remove w'],
    WORKTREE_LOCKED: [{ name: 'w', path: '/w' }, 4, 'git worktree unlock /w'],
    WORKTREE_HOLDS_MORE: [{ name: 'w', reasons: ['x'] }, 4, 'run remove w --force'],
    REMOTE_REFUSED: [{ remote: 'ext::sh', why: 'x' }, 4, 'HOST:PATH'],
    REMOTE_FAILED: [{ remote: 'https://host/x y', said: 'no' }, 9, "git ls-remote 'https://host/x y'"],
    REMOTE_TOO_LARGE: [{ remote: '/r', limit: 5, what: 'transfer' }, 4, '--max-size'],
    COMMAND_NOT_STARTED: [{ command: 'nope', exitCode: 127 }, 127, 'command -v nope'],
    INTERNAL: [{ what: 'x' }, 1, 'doctor'],
  };

describe('explain', () => {
  const codes = Object.keys(explanations) as SnapErrorCode[];
  const next = nextCommand({ instance: undefined, dataDir: undefined });

  test.each(codes)('%s has its exit code and a next step', (code) => {
    const [data, exitCode, hint] = rows[code];
    const explained = explain(new SnapError(code, 'It failed.', data), next);
    expect(explained.exitCode).toBe(exitCode);
    expect(explained.hint).toContain(hint);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('an operation ended by %s exits %d', async (signal, exitCode) => {
    const fail = () => Promise.reject(new SnapError('INTERRUPTED', 'Interrupted.', { signal }));
    expect((await call(['save'], { fake: fakeSnap({ save: fail }) })).code).toBe(exitCode);
  });

  test.each([
    new SnapError('INTERRUPTED', 'Interrupted.', { signal: 'SIGINT', pending: 'a' }),
    new SnapError('NO_SPACE', 'No space left.', { path: '', pending: 'a' }),
  ])('a restore that ended early ($code) names both ways to recover it', (error) => {
    const { hint } = explain(error, next);
    expect(hint).toMatch(/recover --continue.*recover --abort/);
    expect(hint).not.toContain('Nothing half-done');
  });

  test('where there is no dry run to look at, the command that asks nobody is named', () => {
    const error = new SnapError('CONFIRMATION_NEEDED', 'Asked.', { what: 'remove', command: 'run remove w --yes' });
    expect(explain(error, next).hint).toBe('Go on without being asked: jackin-snap run remove w --yes');
  });

  test('what to type next repeats the instance and data directory in use', async () => {
    const fail = () => Promise.reject(new SnapError('STORE_DAMAGED', 'Damaged.', { problem: 'x' }));
    const { stderr } = await call(['-i', 'a', 'gc', '--data-dir', '/my data'], { fake: fakeSnap({ gc: fail }) });
    expect(stderr).toBe(
      "jackin-snap: Damaged.\n  See what is damaged: jackin-snap --data-dir '/my data' -i a verify --full\n",
    );
  });
});

describe('errors in text', () => {
  const failing = (error: Error) => fakeSnap({ gc: () => Promise.reject(error) });

  test('stand alone on stderr', async () => {
    const error = new SnapError('BUSY', 'The store is busy.', { lock: 'store', holder: 'pid 12' });
    const { code, stdout, stderr } = await call(['gc'], { fake: failing(error) });
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(stderr).toBe('jackin-snap: The store is busy.\n  Try again when it is done: pid 12.\n');
  });

  test('name their paths, escaped, and say how many there are', async () => {
    const paths = ['a\x1b[31m', ...Array.from({ length: 30 }, (_, index) => `p${index}`)];
    const error = new SnapError('INCOMPLETE_REFUSED', 'Not saved.', { paths });
    const { code, stderr } = await call(['gc'], { fake: failing(error) });
    expect(code).toBe(6);
    expect(stderr).toContain('\n  a\\x1b[31m\n');
    expect(stderr).toContain('… and 11 more');
  });

  test('hold no control characters', async () => {
    const error = new SnapError('USAGE', 'bad \x1b]0;x\x07 text', { what: 'setting' });
    const { stderr } = await call(['gc'], { fake: failing(error) });
    expect(stderr).toContain('bad \\x1b]0;x\\x07 text');
  });

  test('of any other kind are bugs, with stack and versions', async () => {
    const { code, stderr, stdout } = await call(['gc'], { fake: failing(new TypeError('x is not a function')) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/TypeError: x is not a function\n +at /);
    expect(stderr).toMatch(/jackin-snap \d+\.\d+\.\d+, node v\d+/);
    expect(stderr).toContain('This is a bug');
  });

  test('of any other kind are documents with --json', async () => {
    const called = await call(['gc', '--json'], { fake: failing(new TypeError('x')) });
    expect(called.document().error).toMatchObject({ code: 'INTERNAL', message: 'x' });
    expect(called.stderr).toContain('TypeError: x');
  });
});

describe('a pending restore', () => {
  const pending = (snap: ReturnType<typeof fakeSnap>) =>
    Object.assign(snap.snap, {
      pendingRestores: () => Promise.resolve([{ instance: 't', snapshot: pointer(3) }]),
    });

  test.each(['list', 'save', 'restore 1 --yes', 'undo -y', 'doctor'])(
    '%s says so, with both commands',
    async (line) => {
      const fake = fakeSnap();
      pending(fake);
      const { stderr } = await call(line.split(' '), { fake });
      expect(stderr).toContain('jackin-snap -i t recover --continue');
      expect(stderr).toContain('jackin-snap -i t recover --abort');
    },
  );

  test.each(['recover --abort -y', '-i other list'])('%s does not', async (line) => {
    const fake = fakeSnap();
    pending(fake);
    expect((await call(line.split(' '), { fake })).stderr).not.toContain('pending');
  });

  test('is in the messages of the document, also when the command fails', async () => {
    const fake = fakeSnap();
    pending(fake);
    const listed = await call(['list', '--json'], { fake });
    const refused = await call(['restore', '1', '--json'], { fake });
    expect(listed.stderr).toBe('');
    for (const called of [listed, refused]) {
      expect(called.document()['messages']).toEqual([expect.stringContaining('recover --continue')]);
    }
  });

  test('that cannot be read does not hide the command', async () => {
    const fake = fakeSnap({
      pendingRestores: () => Promise.reject(new SnapError('GIT_MISSING', 'No git.', { program: 'git' })),
    });
    expect((await call(['list'], { fake })).code).toBe(0);
  });
});
