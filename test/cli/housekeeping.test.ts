import { expect, test } from 'vitest';
import { call } from './call.js';
import { fakeSnap } from './fake-snap.js';

const due = (isDue: () => Promise<boolean>): ReturnType<typeof fakeSnap> => {
  const fake = fakeSnap();
  return { ...fake, snap: { ...fake.snap, housekeeping: { ...fake.snap.housekeeping, isDue } } };
};

const started = { method: 'housekeeping.start', request: '/opt/bin/jackin-snap' };

test.each([['save'], ['run', '--', 'true']])('%s starts it when it is due', async (...argv) => {
  const { asked } = await call(argv, { fake: due(() => Promise.resolve(true)) });
  expect(asked.at(-1)).toEqual(started);
});

test.each([['list'], ['restore', '1', '--yes'], ['gc'], ['show', '1']])('%s does not', async (...argv) => {
  const { asked } = await call(argv, { fake: due(() => Promise.resolve(true)) });
  expect(asked).not.toContainEqual(started);
});

test('nothing is started when it is not due', async () => {
  const { asked } = await call(['save'], { fake: due(() => Promise.resolve(false)) });
  expect(asked).not.toContainEqual(started);
});

test.each(['--json', '--no-progress'])('a save with %s answers as ever, whatever becomes of it', async (option) => {
  const usual = await call(['save', option]);
  for (const isDue of [() => Promise.resolve(true), () => Promise.reject(new Error('gone'))]) {
    const { code, stdout, stderr } = await call(['save', option], { fake: due(isDue) });
    expect({ code, stdout, stderr }).toEqual({ code: usual.code, stdout: usual.stdout, stderr: usual.stderr });
  }
});

test('a save that fails starts nothing', async () => {
  const fake = fakeSnap({ save: () => Promise.reject(new Error('failed')) });
  const { asked, code } = await call(['save'], { fake });
  expect(code).toBe(1);
  expect(asked).not.toContainEqual(started);
});

test('gc --auto does it, and has nothing to say', async () => {
  const { asked, code, stdout, stderr } = await call(['gc', '--auto']);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(asked.map(({ method }) => method)).toEqual(['housekeeping.run']);
  expect((await call(['gc', '--help'])).stdout).not.toContain('--auto');
});
