import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import { leftOutReasons } from '../../src/core/entry.js';
import {
  type Manifest,
  decodeAttributes,
  decodeManifest,
  decodeObserved,
  encodeAttributes,
  encodeManifest,
  encodeObserved,
} from '../../src/core/manifest.js';
import { defaultPolicy } from '../../src/core/policy.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed, to be spoilt at any depth
type Document = Record<string, any>;

const repository = {
  head: 'a'.repeat(40),
  branch: 'main',
  upstream: null,
  dirty: null,
  operation: 'rebase',
  unknown: ['index version 4'],
};

const manifest: Manifest = {
  format: '1',
  instance: 'demo',
  seq: 2,
  id: '01KJMMA2QTMZ27P0NSGC0MPD44',
  created_at: '2026-03-01T12:00:00.000Z',
  trigger: 'manual',
  program: 'jackin-snap/0.1.0',
  policy: defaultPolicy,
  scope: [{ mount: 'web', path: { base64: '/w==' } }],
  complete: true,
  stats: { files_observed: 3, files_stored: 2, bytes_stored: 10 },
  mounts: [
    {
      name: 'web',
      path: '/srv/web',
      kind: 'clone',
      device: '18446744073709551615',
      inode: '2',
      repository,
      nested: [{ path: 'vendor/x', ...repository }],
      defaults: { file: 0o644, executable: 0o755, directory: 0o755, uid: 0, gid: 0 },
      exclude_files: [{ path: '', content: '*.o\n' }],
      rules_unknown: ['a'],
    },
  ],
  recovery: { instance: 'demo', seq: 1, mounts: ['web'], paths: null },
  meta: { ticket: '7' },
  instance_record: { anything: ['at', 'all'] },
};

const changed = (change: (document: Document) => void): Buffer => {
  const document = JSON.parse(encodeManifest(manifest).toString()) as Record<string, unknown>;
  change(document);
  return Buffer.from(JSON.stringify(document));
};

describe('a manifest', () => {
  test('is read as it was written', () => {
    expect(decodeManifest(encodeManifest(manifest), 'demo/2')).toEqual(manifest);
  });

  test('of a later version is named as that, whatever else is in it', () => {
    for (const format of ['2', '10', '', 'x'])
      expect(() => decodeManifest(Buffer.from(JSON.stringify({ format, seq: 'y' })), 'demo/2')).toThrow(
        expect.objectContaining({ code: 'FORMAT_UNKNOWN', data: { snapshot: 'demo/2', format } }),
      );
  });

  test.each([
    { what: 'nothing', content: Buffer.from('') },
    { what: 'no JSON', content: Buffer.from('{"format":"1",') },
    { what: 'null', content: Buffer.from('null') },
    { what: 'a list', content: Buffer.from('[]') },
    { what: 'a number as its format', content: changed((m) => (m['format'] = 1)) },
    { what: 'no format', content: changed((m) => delete m['format']) },
    { what: 'bytes that are no text', content: Buffer.from([0xff, 0xfe, 0x00]) },
    { what: 'number 0', content: changed((m) => (m['seq'] = 0)) },
    { what: 'half a number', content: changed((m) => (m['seq'] = 1.5)) },
    { what: 'a mode beyond all modes', content: changed((m) => (m['mounts'][0].defaults.file = 0o10000)) },
    { what: 'a negative owner', content: changed((m) => (m['mounts'][0].defaults.uid = -1)) },
    { what: 'a device that is no number', content: changed((m) => (m['mounts'][0].device = '1e3')) },
    { what: 'a mount of an unknown kind', content: changed((m) => (m['mounts'][0].kind = 'bare')) },
    { what: 'a path that is a number', content: changed((m) => (m['mounts'][0].path = 7)) },
    { what: 'a path in base64 that is none', content: changed((m) => (m['mounts'][0].path = { base64: '*' })) },
    { what: 'a path with something beside it', content: changed((m) => (m['mounts'][0].path = { base64: '', x: 1 })) },
    { what: 'a policy with an unknown rule', content: changed((m) => (m['policy'].keep_all = true)) },
    { what: 'a policy that keeps nothing', content: changed((m) => (m['policy'].keep_last = 0)) },
    { what: 'meta data that is no text', content: changed((m) => (m['meta'].x = {})) },
    { what: 'no mounts', content: changed((m) => delete m['mounts']) },
    { what: 'negative counts', content: changed((m) => (m['stats'].files_stored = -1)) },
  ])('with $what is damage', ({ content }) => {
    expect(() => decodeManifest(content, 'demo/2')).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }));
  });

  test('cannot reach the prototype of anything', () => {
    const text = encodeManifest(manifest).toString().replace('"ticket":', '"__proto__":');
    decodeManifest(Buffer.from(text), 'demo/2');
    expect(({} as Record<string, unknown>)['ticket']).toBeUndefined();
  });
});

/** Paths that must not be taken from a list: each would lead out of the mount, or nowhere. */
const hostilePaths = ['/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/', './a', 'a\0b', { base64: 'Li4veA==' }];

describe('the list of attributes', () => {
  const lines = [
    { path: '' as EntryPath, mode: 0o700 },
    { path: 'a' as EntryPath, bare: true },
    { path: 'v' as EntryPath, sparse: true, size: 2 ** 40 },
    { path: 'b' as EntryPath, mode: 0o4755, uid: 1, gid: 2, sparse: true, linkedTo: '\xff' as EntryPath },
  ];

  test('is read as it was written, one document a line', () => {
    const content = encodeAttributes(lines);
    expect(content.toString().split('\n')).toHaveLength(5);
    expect(decodeAttributes(content)).toEqual(lines);
    expect(decodeAttributes(Buffer.from(''))).toEqual([]);
  });

  test.each([
    ...hostilePaths.map((path) => ({ path })),
    ...hostilePaths.map((path) => ({ path: 'a', linked_to: path })),
    { path: 'a', mode: 0o10000 },
    { path: 'a', mode: -1 },
    { path: 'a', mode: '0644' },
    { path: 'a', uid: -1 },
    { path: 'a', bare: 1 },
    { mode: 0o644 },
    [],
    null,
  ])('with $path $linked_to $mode is damage', (line) => {
    expect(() => decodeAttributes(Buffer.from(`${JSON.stringify(line)}\n`))).toThrow(
      expect.objectContaining({ code: 'STORE_DAMAGED', data: { problem: 'attributes' } }),
    );
  });
});

describe('the list of what was only observed', () => {
  const lines = [...leftOutReasons, 'incomplete' as const, 'absent' as const].map((reason, at) => ({
    path: `${reason}\n${at}` as EntryPath,
    reason,
    directory: at % 2 === 0,
  }));

  test('is read as it was written, with every reason', () => {
    expect(decodeObserved(encodeObserved(lines))).toEqual(lines);
  });

  test.each([
    ...hostilePaths.map((path) => ({ path, reason: 'ignored' })),
    { path: 'a' },
    { path: 'a', reason: 'whim' },
    { path: 'a', reason: 'ignored', directory: 'yes' },
    { reason: 'ignored' },
  ])('with $path $reason is damage', (line) => {
    expect(() => decodeObserved(Buffer.from(JSON.stringify(line)))).toThrow(
      expect.objectContaining({ code: 'STORE_DAMAGED', data: { problem: 'observed' } }),
    );
  });

  test('cut off in the middle of a line is damage', () => {
    const content = encodeObserved(lines);
    expect(() => decodeObserved(content.subarray(0, content.length - 3))).toThrow(
      expect.objectContaining({ code: 'STORE_DAMAGED' }),
    );
  });
});
