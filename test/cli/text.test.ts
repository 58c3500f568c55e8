import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import { call } from './call.js';
import {
  change,
  evilName,
  fakeSnap,
  instance,
  leftOut,
  listed,
  partlySaved,
  plan,
  pointer,
  restored,
  ruined,
  saved,
} from './fake-snap.js';

const snapshots = [
  listed(103, {
    message: `a long message that needs more room than there is ${'x'.repeat(60)}\nbody`,
    createdAt: '2026-03-01T13:29:50.000Z',
  }),
  listed(12, {
    trigger: 'emergency',
    recoveryOf: pointer(3),
    pinned: true,
    files: 123_456,
    createdAt: '2026-02-25T12:00:00.000Z',
  }),
  listed(3, { restorable: false, message: '文字化け'.repeat(20), createdAt: '2025-01-01T00:00:00.000Z' }),
  listed(1, { message: 'evil \x1b]0;x\x07 message', createdAt: '2026-03-01T13:00:00.000Z' }),
];
const listing = () => fakeSnap({ list: () => Promise.resolve({ instance, snapshots, messages: [] }) });

describe('list', () => {
  test.each([40, 60, 80, 120])('fits a terminal of %d columns, one line a snapshot', async (columns) => {
    const { stdout } = await call(['list'], { fake: listing(), terminal: true, columns });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(snapshots.length + 1);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    expect(stdout).toMatchSnapshot();
  });

  test('is lines with tabs and nothing cut off a terminal', async () => {
    const { stdout } = await call(['list'], { fake: listing() });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t').length),
    ).toEqual([7, 7, 7, 7]);
    expect(stdout).toContain('x'.repeat(60));
    expect(stdout).toMatchSnapshot();
  });

  test('of all instances fits, too', async () => {
    const { stdout } = await call(['list', '--all'], { terminal: true, columns: 30 });
    for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(30);
  });

  test.each([
    { terminal: true, env: { NO_COLOR: '' }, colours: true },
    { terminal: true, env: { NO_COLOR: '1' }, colours: false },
    { terminal: true, env: { NO_COLOR: '', TERM: 'dumb' }, colours: false },
    { terminal: false, env: { NO_COLOR: '' }, colours: false },
  ])('colours with terminal $terminal and $env: $colours', async ({ terminal, env, colours }) => {
    const { stdout } = await call(['list'], { terminal, env });
    expect(stdout.includes('\x1b[')).toBe(colours);
    expect((await call(['list', '--no-color'], { terminal, env })).stdout).not.toContain('\x1b[');
  });
});

describe('save', () => {
  test('says number, counts, what was left out by reason, and what to type next', async () => {
    expect((await call(['save', '-i', 't'])).stdout).toMatchSnapshot();
  });

  test('names the first of many and where the rest is', async () => {
    const observedOnly = Array.from({ length: 9 }, (_, index) => leftOut(`secret${index}`, 'secret'));
    const { stdout } = await call(['save'], {
      fake: fakeSnap({ save: () => Promise.resolve({ ...saved, observedOnly }) }),
    });
    expect(stdout).toContain('secret4 and 4 more');
    expect(stdout).toContain('jackin-snap show 3');
  });

  test('a partial one exits 6 and names each path, however quiet', async () => {
    const fake = fakeSnap({ save: () => Promise.resolve(partlySaved) });
    const { code, stdout, stderr } = await call(['save', '--quiet'], { fake });
    expect({ code, stdout, stderr }).toEqual({ code: 6, stdout: '', stderr: 'warning: not stored, unreadable: no\n' });
  });

  test('says when nothing changed', async () => {
    const fake = fakeSnap({ save: () => Promise.resolve({ ...saved, created: false }) });
    expect((await call(['save', '--if-changed'], { fake })).stdout).toContain('Nothing changed since snapshot 3 of t');
  });

  test('messages are notes on stderr, escaped', async () => {
    const fake = fakeSnap({ save: () => Promise.resolve({ ...saved, messages: ['odd \x1b[1m thing'] }) });
    expect((await call(['save'], { fake })).stderr).toBe('note: odd \\x1b[1m thing\n');
  });
});

describe('show, tree, instance', () => {
  test.each(['show 4', 'tree 1', 'instance show'])('%s', async (line) => {
    const { stdout } = await call(line.split(' '));
    expect(stdout).not.toContain('\x1b');
    expect(stdout).toMatchSnapshot();
  });
});

describe('restore', () => {
  test('shows host paths, what stays, and how to undo it', async () => {
    const { stdout, stderr } = await call(['-i', 't', 'restore', '1', '--yes']);
    expect(stdout).toMatchSnapshot();
    expect(stderr).toBe('note: HEAD moved since the snapshot.\n');
  });

  test("another instance's snapshot is undone there", async () => {
    expect((await call(['restore', 'web/1', '--yes'])).stdout).toContain('jackin-snap -i web undo');
  });

  const many = Array.from({ length: 100 }, (_, index) => change(index < 60 ? 'create' : 'delete', `f${index}`));
  const long = () => fakeSnap({ restore: () => Promise.resolve({ ...restored, plan: many, dryRun: true }) });

  test('sums long plans up on a terminal', async () => {
    const { stdout } = await call(['restore', '1', '--dry-run'], { fake: long(), terminal: true });
    expect(stdout).toContain('… and 20 create, 40 delete more; --verbose shows all.');
    expect(stdout).not.toContain('/work/m/f40');
  });

  test.each([
    { argv: ['--verbose'], terminal: true },
    { argv: [], terminal: false },
  ])('shows every line with $argv, terminal $terminal', async ({ argv, terminal }) => {
    const { stdout } = await call(['restore', '1', '--dry-run', ...argv], { fake: long(), terminal });
    for (const { path } of many) expect(stdout).toContain(`/work/m/${path}`);
  });

  test('names what could not be restored, and why, and exits 6', async () => {
    const failed = [{ ...restored.kept[0]!, path: evilName, reason: 'it is a pipe now' }];
    const { code, stderr } = await call(['restore', '1', '--yes'], {
      fake: fakeSnap({ restore: () => Promise.resolve({ ...restored, failed }) }),
    });
    expect(code).toBe(6);
    expect(stderr).toContain('warning: not restored: x\\x1b]0;PWNED\\x07\\x1b[31mRED: it is a pipe now\n');
  });

  test('no name of a plan reaches the terminal raw', async () => {
    const evil = [...plan, change('delete', evilName)];
    const fake = fakeSnap({
      restore: () => Promise.resolve({ ...restored, plan: evil, kept: [{ ...restored.kept[0]!, path: evilName }] }),
    });
    const { stdout } = await call(['restore', '1', '--dry-run'], { fake, terminal: true });
    expect(stdout).not.toContain('\x1b');
    expect(stdout).toContain('\\x1b]0;PWNED\\x07');
  });
});

describe('checks', () => {
  test('verify tells what is damaged and exits 7', async () => {
    const { code, stdout } = await call(['verify', '-q'], {
      fake: fakeSnap({ verify: () => Promise.resolve(ruined) }),
    });
    expect(code).toBe(7);
    expect(stdout.split('\n')).toEqual([
      '3 snapshots checked: 2 damaged. Content hashed: 1,000 of 12,345 objects.',
      '  t/2: objects are damaged',
      '    m/src/x\\x1b]0;PWNED\\x07\\x1b[31mRED',
      '    m/src/ and all below it',
      '    meta/manifest.json',
      '    and 1,234 more',
      '  t/3: its commit is damaged',
      '    everything',
      '  fsck: bad pack',
      '',
    ]);
  });

  test.each([
    { content: null, said: '3 snapshots checked: all whole and restorable.' },
    {
      content: { objectsChecked: 12, objectsTotal: 12 },
      said: '3 snapshots checked: all whole and restorable. All content hashed: 12 objects.',
    },
    {
      content: { objectsChecked: 2, objectsTotal: 12 },
      said: '3 snapshots checked: all whole and restorable. Content hashed: 2 of 12 objects.',
    },
  ])('verify says how much it hashed: $content', async ({ content, said }) => {
    const sound = { ok: true, snapshotsChecked: 3, damaged: [], problems: [], content };
    const { code, stdout } = await call(['verify'], { fake: fakeSnap({ verify: () => Promise.resolve(sound) }) });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${said}\n` });
  });

  test.each([
    { damaged: true, code: 7 },
    { damaged: false, code: 9 },
  ])('doctor exits $code when something is wrong, damage or not: $damaged', async ({ damaged, code }) => {
    const findings = [{ level: 'problem' as const, what: 'no git', hint: 'Install git.' }];
    const doctor = () => Promise.resolve({ ok: false, damaged, findings });
    expect(await call(['doctor'], { fake: fakeSnap({ doctor }) })).toMatchObject({
      code,
      stdout: 'problem no git\n        Install git.\n',
    });
  });
});

test('cat writes the bytes and nothing else', async () => {
  const { code, stdout, stderr } = await call(['cat', '1', 'a', 'a/b']);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'contentcontent', stderr: '' });
});
