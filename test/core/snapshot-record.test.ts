import { describe, expect, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from '../../src/core/ids.js';
import { triggers } from '../../src/core/results.js';
import {
  type SnapshotRecord,
  encodeCommit,
  encodeMessage,
  pinRefName,
  quotePath,
  replaceRefName,
  snapshotRefName,
  tidyMessage,
  unquotePath,
  withParent,
  openMessage,
} from '../../src/core/snapshot-record.js';

const commit = 'c'.repeat(40) as ObjectId;
const instance = 'demo' as InstanceName;
const seq = 7 as Seq;
const id = '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId;

const plain: SnapshotRecord = {
  instance,
  seq,
  id,
  trigger: 'manual',
  message: 'before the change',
  createdAt: new Date('2026-03-01T12:00:00.250Z'),
  previous: null,
  mounts: [],
  bases: [],
  recoveryOf: null,
  files: 3,
  sizeBytes: 4096,
  sourceTool: null,
  phase: null,
  decision: null,
  resource: null,
};

const full: SnapshotRecord = {
  ...plain,
  message: 'subject\n\nbody, first line\nbody, second line',
  previous: commit,
  mounts: [
    { name: 'web' as MountName, kind: 'clone', path: '/srv/web' as HostPath },
    { name: 'data' as MountName, kind: 'plain', path: '/srv/d\xff' as HostPath },
  ],
  bases: [
    { mount: 'web' as MountName, commit, branch: 'main' },
    { mount: 'data' as MountName, commit, branch: null },
  ],
  recoveryOf: { instance, seq, id, ref: 'refs/jackin/demo/7' },
  sourceTool: 'claude',
  phase: 'build',
  decision: 'go on',
  resource: 'db: main',
};

test('a message is subject, body and trailers, in a fixed order', () => {
  expect(encodeMessage(full)).toBe(
    [
      'subject',
      '',
      'body, first line',
      'body, second line',
      '',
      'Jackin-Format: 1',
      'Jackin-Instance: demo',
      'Jackin-Seq: 7',
      `Jackin-Id: ${id}`,
      'Jackin-Trigger: manual',
      'Jackin-Created: 2026-03-01T12:00:00.250Z',
      'Jackin-Stored: 3 4096',
      `Jackin-Previous: ${commit}`,
      'Jackin-Mount: web clone /srv/web',
      'Jackin-Mount: data plain "/srv/d\\377"',
      `Jackin-Base: web ${commit} main`,
      `Jackin-Base: data ${commit} (detached)`,
      `Jackin-Recovery-Of: demo/7 ${id}`,
      'Jackin-Source-Tool: claude',
      'Jackin-Phase: build',
      'Jackin-Decision: go on',
      'Jackin-Resource: db: main',
      '',
    ].join('\n'),
  );
  expect(openMessage(encodeMessage(full)).decode()).toEqual(full);
});

test.each(triggers)('the trigger %s is read as it was written', (trigger) => {
  expect(openMessage(encodeMessage({ ...plain, trigger })).decode().trigger).toBe(trigger);
});

describe('what a user types cannot pass for a trailer', () => {
  test.each([
    { what: 'a trailer as the whole message', message: 'Jackin-Seq: 99' },
    {
      what: 'a block of trailers at its end',
      message: 'subject\n\nJackin-Format: 2\nJackin-Seq: 99\nJackin-Instance: other',
    },
    { what: 'a trailer as its last line', message: 'subject\nJackin-Id: 01KJMMA2QTMZ27P0NSGC0MPD45' },
    { what: 'a whole message of ours', message: encodeMessage({ ...full, seq: 99 as Seq }) },
    { what: 'blank lines and a trailer', message: 'subject\n\n\n\n\nJackin-Seq: 99\n\n\n' },
    { what: 'carriage returns', message: 'subject\r\n\r\nJackin-Seq: 99\r\rJackin-Seq: 98' },
    { what: 'a NUL', message: 'sub\0ject\0\n\nJackin-Seq: 99' },
    { what: 'other separators', message: 'subject\u2028\u2028Jackin-Seq: 99\v\vJackin-Seq: 98\u0085' },
    { what: 'lines of blanks', message: 'subject\n \t\n  \nJackin-Seq: 99\n \n' },
  ])('$what', ({ message }) => {
    const record = { ...plain, message: tidyMessage(message, 'otherwise') };
    expect(openMessage(encodeMessage(record)).decode()).toEqual(record);
    expect(openMessage(encodeMessage(record)).format).toBe('1');
  });

  const injection = 'x\n\nJackin-Seq: 99\nJackin-Format: 2\r\nJackin-Id:\u2028\u2029y';
  test.each(['sourceTool', 'phase', 'decision', 'resource'] as const)('in the label %s', (label) => {
    const read = openMessage(encodeMessage({ ...full, [label]: injection })).decode();
    expect(read).toEqual({ ...full, [label]: 'x Jackin-Seq: 99 Jackin-Format: 2 Jackin-Id: y' });
  });

  test('in the name of a branch', () => {
    const bases = [{ mount: 'web' as MountName, commit, branch: injection }];
    const read = openMessage(encodeMessage({ ...full, bases })).decode();
    expect(read).toEqual({ ...full, bases });
  });

  test('in the path of a mount', () => {
    const mounts = [{ name: 'web' as MountName, kind: 'plain' as const, path: `/srv/${injection}` as HostPath }];
    const bytes = Buffer.from(injection, 'utf8').toString('latin1');
    const record = { ...full, mounts: [{ ...mounts[0]!, path: `/srv/${bytes}` as HostPath }] };
    expect(openMessage(encodeMessage(record)).decode()).toEqual(record);
  });
});

describe('a tidied message', () => {
  test.each([
    { typed: undefined, tidied: 'otherwise' },
    { typed: '', tidied: 'otherwise' },
    { typed: ' \n\t\r\n ', tidied: 'otherwise' },
    { typed: '\0', tidied: 'otherwise' },
    { typed: 'one', tidied: 'one' },
    { typed: '  one  ', tidied: 'one' },
    { typed: 'one\r\ntwo\rthree', tidied: 'one\ntwo\nthree' },
    { typed: 'one\n\n\n\ntwo', tidied: 'one\n\ntwo' },
    { typed: 'one \n  two', tidied: 'one\n  two' },
    { typed: '# not a comment', tidied: '# not a comment' },
    { typed: 'é 漢 😀', tidied: 'é 漢 😀' },
  ])('of $typed is $tidied', ({ typed, tidied }) => {
    expect(tidyMessage(typed, 'otherwise')).toBe(tidied);
  });
});

describe('a path in a trailer', () => {
  test.each([
    { path: '/srv/web', quoted: '/srv/web' },
    { path: '/a b', quoted: '/a b' },
    { path: '/caf\xc3\xa9', quoted: '/café' },
    { path: '/caf\xe9', quoted: '"/caf\\351"' },
    { path: '/a\nb', quoted: '"/a\\012b"' },
    { path: '/a\\b', quoted: '/a\\b' },
    { path: '/a\\n\n', quoted: '"/a\\134n\\012"' },
    { path: '/a"b\n', quoted: '"/a\\042b\\012"' },
    { path: '"/a"', quoted: '"\\042/a\\042"' },
    { path: '/a ', quoted: '"/a "' },
    { path: '/a\xe2\x80\xa8', quoted: '"/a\\342\\200\\250"' },
  ])('$path is written $quoted', ({ path, quoted }) => {
    expect(quotePath(path)).toBe(quoted);
    expect(unquotePath(quoted)).toBe(path);
  });
});

describe('a message that is not ours is refused, never half-read', () => {
  const without = (key: string): string => encodeMessage(full).replace(new RegExp(`^Jackin-${key}: .*\n`, 'gm'), '');
  const swapped = (key: string, value: string): string =>
    encodeMessage(full).replace(new RegExp(`^(Jackin-${key}: ).*$`, 'm'), `$1${value}`);
  test.each([
    { what: 'nothing', message: '' },
    { what: "somebody's commit", message: 'Fix the build\n\nSigned-off-by: someone\n' },
    ...['Instance', 'Seq', 'Id', 'Trigger', 'Created', 'Stored'].map((key) => ({
      what: `no Jackin-${key}`,
      message: without(key),
    })),
    { what: 'a number with a leading zero', message: swapped('Seq', '07') },
    { what: 'a number that is none', message: swapped('Seq', 'seven') },
    { what: 'an id in lower case', message: swapped('Id', id.toLowerCase()) },
    { what: 'an unknown trigger', message: swapped('Trigger', 'whim') },
    { what: 'a moment that is none', message: swapped('Created', 'yesterday') },
    { what: 'half of what was stored', message: swapped('Stored', '3') },
    { what: 'a mount of an unknown kind', message: swapped('Mount', 'web bare /srv/web') },
    { what: 'a mount without a path', message: swapped('Mount', 'web plain') },
    { what: 'a base that is no commit', message: swapped('Base', 'web main main') },
    { what: 'a recovery of nothing', message: swapped('Recovery-Of', 'demo') },
    { what: 'a recovery of number 0', message: swapped('Recovery-Of', `demo/0 ${id}`) },
    { what: 'a cut-off end', message: encodeMessage(full).slice(0, encodeMessage(full).indexOf('Jackin-Trigger')) },
  ])('$what', ({ message }) => {
    expect(() => openMessage(message).decode()).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }));
  });

  test('trailers of a later version beside ours do no harm', () => {
    expect(openMessage(`${encodeMessage(full)}Jackin-New-Thing: 1\n`).decode()).toEqual(full);
    expect(openMessage(`${encodeMessage(full)}\n\n`).decode()).toEqual(full);
  });

  test.each([
    { message: swapped('Format', '2'), format: '2' },
    { message: encodeMessage(full), format: '1' },
    { message: without('Format'), format: undefined },
    { message: 'Jackin-Format: 3', format: '3' },
  ])('the version that it claims is $format', ({ message, format }) => {
    expect(openMessage(message).format).toBe(format);
  });
});

describe('the commit object', () => {
  const tree = 'd'.repeat(40) as ObjectId;
  const createdAt = new Date('2026-03-01T12:00:00.999Z');
  const bytes = encodeCommit({ tree, parent: null, createdAt, message: 'é\n' });

  test('has no parent, a fixed identity and whole seconds in UTC', () => {
    const who = 'jackin-snap <jackin-snap@localhost> 1772366400 +0000';
    expect(bytes.toString('utf8')).toBe(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\né\n`);
  });

  test('has a graft that is the same but for its parent', () => {
    expect(withParent(bytes, commit)).toEqual(encodeCommit({ tree, parent: commit, createdAt, message: 'é\n' }));
  });
});

test('refs are named by instance and number, grafts by commit', () => {
  expect([snapshotRefName(instance, seq), pinRefName(instance, seq), replaceRefName(commit)]).toEqual([
    'refs/jackin/demo/7',
    'refs/jackin-pin/demo/7',
    `refs/replace/${commit}`,
  ]);
});

test.each([
  { branch: null, text: '(detached)' },
  { branch: 'detached', text: 'detached' },
  { branch: '(detached)', text: 'refs/heads/(detached)' },
  { branch: 'refs/heads/(detached)', text: 'refs/heads/refs/heads/(detached)' },
  { branch: 'refs/heads/main', text: 'refs/heads/main' },
  { branch: 'x/(detached)', text: 'x/(detached)' },
  { branch: '\u2028', text: '"\\342\\200\\250"' },
  { branch: 'a\u0085b', text: '"a\\302\\205b"' },
  { branch: '"main"', text: '"\\042main\\042"' },
  { branch: 'naïve', text: 'naïve' },
])('the branch $branch is written as $text and read back', ({ branch, text }) => {
  const bases = [{ mount: 'web' as MountName, commit, branch }];
  const message = encodeMessage({ ...full, bases });
  expect(message).toContain(`Jackin-Base: web ${commit} ${text}\n`);
  expect(openMessage(message).decode().bases).toEqual(bases);
});

test.each([
  { line: 'Mount: web plain ""', reason: 'an empty path' },
  { line: 'Mount: web plain "/srv/web', reason: 'a quote that does not end' },
  { line: 'Mount: web plain "/srv/\\7ab"', reason: 'an escape that stands for no byte' },
  { line: 'Stored: 3 9999999999999999', reason: 'a size that is no exact number' },
])('turns down a message with $reason', ({ line }) => {
  const key = line.slice(0, line.indexOf(':'));
  const message = encodeMessage({ ...full, mounts: full.mounts.slice(0, 1) });
  const changed = message.replace(new RegExp(`^Jackin-${key}: .*$`, 'm'), () => `Jackin-${line}`);
  expect(changed).not.toBe(message);
  expect(() => openMessage(changed).decode()).toThrow(`Jackin-${key}`);
});
