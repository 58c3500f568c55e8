import { linkSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HostPath } from '../../src/core/entry-path.js';
import { openMount } from '../../src/fs/held-directory.js';
import { tempDir } from '../support/temp.js';

test.each<{ what: string; swap: (there: string, outside: string) => void }>([
  { what: 'another file', swap: (there) => writeFileSync(there, 'other', { mode: 0o640 }) },
  { what: 'a link to a file', swap: (there, outside) => symlinkSync(outside, there) },
  { what: 'a link to it where it is now', swap: (there, outside) => symlinkSync(join(outside, '../away'), there) },
  { what: 'another name of a file', swap: (there, outside) => linkSync(outside, there) },
])('attributes reach the entry that was seen, not $what that has its name by now', ({ swap }) => {
  const area = tempDir();
  const [mount, outside] = [join(area, 'mount'), join(area, 'outside')];
  mkdirSync(mount);
  writeFileSync(outside, 'outside', { mode: 0o640 });
  writeFileSync(join(mount, 'f'), 'x', { mode: 0o644 });
  const root = openMount(mount as HostPath);
  const seen = root.stat('f')!;
  renameSync(join(mount, 'f'), join(area, 'away'));
  swap(join(mount, 'f'), outside);
  const before = lstatSync(join(mount, 'f')).mode;

  const wanted = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o777 };
  expect(root.setAttributes('f', seen, wanted)).toBe('another');
  expect(lstatSync(join(mount, 'f')).mode).toBe(before);
  expect(lstatSync(outside).mode & 0o7777).toBe(0o640);
  expect(lstatSync(join(area, 'away')).mode & 0o7777).toBe(0o644);
  root.close();
});

test.runIf(process.getuid?.() === 0)('set-id bits outlive the change of owner that comes with them', () => {
  const mount = tempDir();
  writeFileSync(join(mount, 'f'), 'x', { mode: 0o755 });
  const root = openMount(mount as HostPath);
  expect(root.setAttributes('f', root.stat('f')!, { uid: 7, gid: 7, mode: 0o6755 })).toBe('set');
  const { uid, gid, mode } = lstatSync(join(mount, 'f'));
  expect([uid, gid, mode & 0o7777]).toEqual([7, 7, 0o6755]);
  root.close();
});

test('the attributes of the file that was seen are synced, and nothing else is opened for it', () => {
  const mount = join(tempDir('held-sync'), 'mount');
  mkdirSync(mount);
  writeFileSync(join(mount, 'f'), 'x');
  symlinkSync('f', join(mount, 'link'));
  const root = openMount(mount as HostPath);
  const seen = root.stat('f')!;
  expect(root.syncFile('f', seen)).toBe(true);
  expect(root.syncFile('link', root.stat('link')!)).toBe(false);
  expect(root.syncFile('link', seen)).toBe(false);
  root.close();
});
