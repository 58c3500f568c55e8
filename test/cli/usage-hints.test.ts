import { describe, expect, test } from 'vitest';
import { SnapError } from '../../src/errors.js';
import { call } from './call.js';
import { fakeSnap } from './fake-snap.js';

describe('a command line that is wrong says what to type next', () => {
  test.each([
    { line: 'lst', says: 'See all commands: jackin-snap --help' },
    { line: '-i', says: 'See all commands: jackin-snap --help' },
    { line: '', says: 'Take a first snapshot of this folder: jackin-snap save' },
    { line: 'save --mesage x', says: 'jackin-snap save --help' },
    { line: 'list --since whenever', says: 'jackin-snap list --help' },
    { line: 'instance', says: 'jackin-snap instance show' },
    { line: 'instance nothing', says: 'jackin-snap instance --help' },
    { line: 'instance show --nothing', says: 'jackin-snap instance show --help' },
    { line: 'instance set', says: 'see the settings: jackin-snap instance show' },
    { line: 'instance set keep_last', says: 'See the settings: jackin-snap instance show' },
    { line: 'show', says: 'jackin-snap show SNAP; see the snapshots: jackin-snap list' },
    { line: '-i t restore', says: 'jackin-snap restore SNAP [PATH...]; see the snapshots: jackin-snap -i t list' },
    { line: 'cat 3', says: 'see the paths: jackin-snap tree 3' },
    { line: 'export 3', says: 'for example: jackin-snap export latest ../as-it-was.tar.gz' },
    { line: 'run', says: 'for example: jackin-snap run -- make test' },
    { line: 'log plan.txt', says: 'Write it as: jackin-snap log [-- PATH...]' },
    { line: 'diff 1 2 plan.txt', says: 'Write it as: jackin-snap diff SNAP [SNAP] [-- PATH...]' },
    { line: 'undo 3', says: 'Write it as: jackin-snap undo; that of another instance: jackin-snap -i NAME undo' },
    { line: 'list shop', says: 'Write it as: jackin-snap list; that of another instance: jackin-snap -i NAME list' },
    { line: 'gc 3', says: 'Write it as: jackin-snap gc' },
    { line: 'recovery show', says: 'see what there is: jackin-snap recovery list' },
    { line: 'instance import', says: 'for example: jackin-snap instance import jackin' },
    { line: 'stacks help', says: 'jackin-snap stacks --help' },
    { line: 'recover', says: 'Finish it: jackin-snap recover --continue; take it back: jackin-snap recover --abort' },
    { line: 'tree 1 a b', says: 'jackin-snap tree SNAP [PATH]' },
    { line: 'tree 1 a -- b', says: 'jackin-snap tree SNAP [PATH]' },
    { line: 'save --mount web', says: 'jackin-snap save --mount web=./web' },
    { line: 'save --meta x', says: 'jackin-snap save --meta ticket=42' },
    { line: 'list --all --limit 3', says: 'jackin-snap list --all; the snapshots of one: jackin-snap -i NAME list' },
    { line: '-i UPPER list', says: 'jackin-snap list --all' },
    { line: 'restore 1 --paths-from nothing', says: '-print0 > nothing' },
    { line: 'restore 1 ../x', says: 'jackin-snap tree latest' },
  ])('$line', async ({ line, says }) => {
    const { code, stdout, stderr } = await call(line === '' ? [] : line.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toContain(says);
  });

  test('and the document names the command that refused it', async () => {
    const called = await call(['--json', 'instance', 'set']);
    expect(called.document()).toMatchObject({ command: 'instance set', error: { code: 'USAGE' } });
  });
});

describe('a path in the place of a snapshot', () => {
  const noSnapshot = (selector: string) => () =>
    Promise.reject(new SnapError('SNAPSHOT_NOT_FOUND', 'None.', { selector, instance: 't' }));

  test.each([
    { line: 'diff 1 plan.txt', word: 'plan.txt', says: 'if it is a path: jackin-snap diff 1 -- plan.txt' },
    { line: 'diff plan.txt', word: 'plan.txt', says: 'if it is a path: jackin-snap diff latest -- plan.txt' },
    { line: 'diff src/a lib', word: 'src/a', says: 'if it is a path: jackin-snap diff latest -- src/a' },
    { line: 'restore src', word: 'src', says: 'if it is a path: jackin-snap restore latest -- src' },
    { line: 'tree src', word: 'src', says: 'if it is a path: jackin-snap tree latest -- src' },
  ])('$line', async ({ line, word, says }) => {
    const fail = noSnapshot(word);
    const { code, stderr } = await call(line.split(' '), {
      fake: fakeSnap({ diff: fail, restore: fail, tree: fail }),
    });
    expect(code).toBe(3);
    expect(stderr).toContain(says);
    expect(stderr).toContain('jackin-snap -i t list');
  });

  test.each(['99', 'latest~7', 'web/3', 'refs/jackin/web/3'])('%s is not taken for one', async (word) => {
    const { stderr } = await call(['diff', '1', word], { fake: fakeSnap({ diff: noSnapshot(word) }) });
    expect(stderr).toBe('jackin-snap: None.\n  See what there is: jackin-snap -i t list\n');
  });

  test('an id that is too short is told how long it must be', async () => {
    const { stderr } = await call(['show', '01a'], { fake: fakeSnap({ show: noSnapshot('01a') }) });
    expect(stderr).toContain('of an id, 4 characters or more are needed');
  });
});

describe('what is not there', () => {
  test.each([
    { data: { path: '/no/x', where: 'host' }, says: 'mkdir -p /no\n' },
    { data: { path: 'api', where: 'mounts', snapshot: 't/2' }, says: 'jackin-snap show t/2\n' },
    { data: { path: 'x', where: 'mount m', snapshot: 't/2' }, says: 'jackin-snap tree t/2.' },
    { data: { path: 'x', where: 'mount m' }, says: 'jackin-snap -i a tree latest.' },
  ])('$data.path', async ({ data, says }) => {
    const restore = () => Promise.reject(new SnapError('PATH_NOT_FOUND', 'Not there.', data));
    const { code, stderr } = await call(['-i', 'a', 'restore', '1', 'x'], { fake: fakeSnap({ restore }) });
    expect(code).toBe(3);
    expect(stderr).toContain(says);
  });

  test.each([
    { named: true as const, says: 'jackin-snap list --all' },
    { named: undefined, says: 'restore latest --to DIR' },
  ])('a folder, named: $named', async ({ named, says }) => {
    const data = { mount: 'm', path: '/m', ...(named && { named }) };
    const save = () => Promise.reject(new SnapError('MOUNT_GONE', 'Gone.', data));
    const { code, stderr } = await call(['save', 'foo'], { fake: fakeSnap({ save }) });
    expect(code).toBe(4);
    expect(stderr).toContain(says);
  });
});

test.each(['restore 1', 'undo', 'recover --continue', 'delete 2', 'prune'])(
  '%s that is declined says once that nothing happened, and what to do instead',
  async (line) => {
    const { stderr } = await call(line.split(' '), { terminal: true, answer: false });
    expect(stderr).not.toMatch(/nothing was changed/i);
    expect(stderr).toMatch(/--dry-run|recover --help/);
  },
);
