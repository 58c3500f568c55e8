import { describe, expect, test } from 'vitest';
import { parseMountName } from '../../src/core/ids.js';
import type { RestoreRequest } from '../../src/core/requests.js';
import type { RestoreResult } from '../../src/core/results.js';
import { SnapError } from '../../src/errors.js';
import { call } from './call.js';
import { fakeSnap, pointer, restored } from './fake-snap.js';

const lines = ['restore 1', 'undo', 'recover --continue', 'delete 2', 'prune'];

describe.each(lines)('%s', (line) => {
  const argv = line.split(' ');

  test('off a terminal exits 5 and says --yes', async () => {
    const { code, stderr, questions } = await call(argv);
    expect({ code, questions }).toEqual({ code: 5, questions: [] });
    expect(stderr).toContain('--yes');
  });

  test('--yes goes on without a question', async () => {
    const { code, questions } = await call([...argv, '--yes'], { terminal: true });
    expect({ code, questions }).toEqual({ code: 0, questions: [] });
  });

  test.each([
    { answer: true, exit: 0 },
    { answer: false, exit: 5 },
  ])('on a terminal asks once: $answer exits $exit', async ({ answer, exit }) => {
    const { code, questions } = await call(argv, { terminal: true, answer });
    expect(code).toBe(exit);
    expect(questions).toEqual([expect.stringMatching(/\?$/)]);
  });
});

describe.each(['restore 1', 'undo'])('%s of which most of a folder would go', (line) => {
  const argv = line.split(' ');
  const large = [{ mount: parseMountName('m'), deleted: 1234, held: 1500 }];
  const asked = async ({ allowLarge, confirmLarge }: Partial<RestoreRequest>): Promise<RestoreResult> => {
    if (allowLarge === true || (await confirmLarge?.(large)) === true) return restored;
    throw new SnapError('LARGE_DELETION', 'Too much.', large[0]!);
  };
  const fake = () => fakeSnap({ restore: asked, undo: asked });

  test('asks once more on a terminal, in words, even with --yes', async () => {
    const { code, questions } = await call([...argv, '--yes'], { fake: fake(), terminal: true, answer: true });
    expect(code).toBe(0);
    expect(questions).toEqual(['This deletes 1,234 of the 1,500 files in mount m. Delete them all the same?']);
  });

  test('off a terminal exits 5 without --allow-large', async () => {
    const { code, stderr } = await call([...argv, '--yes'], { fake: fake() });
    expect(code).toBe(5);
    expect(stderr).toContain('--allow-large');
    expect((await call([...argv, '--yes', '--allow-large'], { fake: fake() })).code).toBe(0);
  });
});

test('the plan is shown before the question', async () => {
  const { stdout } = await call(['restore', '1'], { terminal: true });
  expect(stdout).toContain('/work/m/new');
});

test('where stdout is a pipe, the plan goes to the terminal that asks', async () => {
  const terminal = { stdin: true, stderr: true };
  const { stdout, stderr, questions } = await call(['restore', '1'], { terminal, answer: true });
  expect(questions).toHaveLength(1);
  expect(stderr).toContain('/work/m/new');
  expect(stdout).not.toContain('/work/m/new');
});

test('with --json the question and its plan leave stdout to the document', async () => {
  const called = await call(['restore', '1', '--json'], { terminal: true, answer: true });
  expect(called.questions).toHaveLength(1);
  expect(called.stderr).toContain('/work/m/new');
  expect(called.document()['ok']).toBe(true);
});

test('--quiet still shows the plan that it asks about', async () => {
  const asked = await call(['restore', '1', '-q'], { terminal: true, answer: true });
  expect(asked.stdout).toContain('/work/m/new');
  const sure = await call(['restore', '1', '-q', '-y'], { terminal: true });
  expect(sure.stdout + sure.stderr).toBe('');
});

test('nothing to do needs no consent', async () => {
  const fake = fakeSnap({
    restore: async ({ confirm }: RestoreRequest) => {
      await confirm({ snapshot: pointer(1), plan: [], kept: [], messages: [] });
      return { ...restored, plan: [], emergencySnapshot: null };
    },
  });
  const { code, stdout, questions } = await call(['restore', '1'], { fake });
  expect({ code, questions }).toEqual({ code: 0, questions: [] });
  expect(stdout).toContain('Nothing differs from snapshot 1 of t.');
});

test.each(['gc', 'save', 'pin 1', 'instance close'])('%s asks nothing', async (line) => {
  const { code, questions } = await call(line.split(' '), { terminal: true });
  expect({ code, questions }).toEqual({ code: 0, questions: [] });
});
