import { spawnSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runSnap, runSnapJson } from '../support/cli.js';
import { runProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';

// Files of 100 GiB that are nearly all holes: whoever reads the holes takes minutes, and the time limits say so.

const size = 100 * 2 ** 30;
const range = 65_536;
const starts = [0, 5 * range, 2 ** 31 + 3 * range, 40 * 2 ** 30, 77 * 2 ** 30 + range, size - range];
const aMinute = 60_000;

let area: string;
let mount: string;
let vast: string;

beforeEach(() => {
  area = tempDir('vast');
  mount = join(area, 'm');
  vast = join(mount, 'vast.img');
  mkdirSync(mount);
  writeVast(vast);
  writeFileSync(join(mount, 'small'), 'small');
});

function writeVast(path: string): void {
  const file = openSync(path, 'wx');
  ftruncateSync(file, size);
  starts.forEach((start, at) => writeSync(file, Buffer.alloc(range, `range ${at} `), 0, range, start));
  closeSync(file);
}

function put(path: string, at: number, bytes: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, at);
  closeSync(file);
}

/** Size, where the system sees data, and what it is: asked of python, which reads no hole. */
function look(path: string): { size: number; ranges: [number, number][]; sum: string } {
  const script = `
import sys, os, hashlib, json
f = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(f).st_size
ranges, at, total = [], 0, hashlib.sha256()
while at < size:
    try: start = os.lseek(f, at, os.SEEK_DATA)
    except OSError: break
    end = os.lseek(f, start, os.SEEK_HOLE)
    ranges.append([start, end - start])
    total.update(b'%d ' % start + os.pread(f, end - start, start))
    at = end
print(json.dumps({'size': size, 'ranges': ranges, 'sum': total.hexdigest()}))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as ReturnType<typeof look>;
}

const options = (env: Record<string, string> = {}): Parameters<typeof runSnap>[1] => ({
  cwd: mount,
  dataDir: join(area, 'data'),
  timeout: aMinute,
  env,
});

async function snap(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSnap(args, options());
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function snapJson(...args: string[]): Promise<any> {
  const { document } = await runSnapJson(args, options());
  expect(document.error).toBeUndefined();
  return document.data;
}

const save = (...args: string[]): Promise<string> => snap('save', '--max-file-size', '200G', ...args);

test('it is saved, shown and restored by its data', async () => {
  const before = look(vast);
  expect(before.ranges.length).toBe(starts.length);
  await save();

  expect(await snap('tree', '1')).toContain(`${size} vast.img`);
  expect((await snapJson('list')).snapshots[0]).toMatchObject({ files: 2, size_bytes: size + 5 });
  expect(await snap('verify', '--full')).not.toContain('damaged');
  truncateSync(vast, 0);
  await snap('restore', '1', '--yes');
  expect(look(vast)).toEqual(before);
  expect(lstatSync(vast).blocks).toBeLessThanOrEqual((starts.length + 1) * 128);

  expect(await snap('restore', '1', '--yes')).toContain('Nothing differs');
  await snap('undo', '--yes');
  expect(lstatSync(vast).size).toBe(0);
});

test('nothing changed is no new snapshot, whether it is read again or not', async () => {
  await save();
  expect(await save('--if-changed')).toContain('Nothing changed');
  expect(await save('--if-changed', '--full')).toContain('Nothing changed');
  await save();
  expect(await snap('restore', '2', '--dry-run')).toContain('Nothing differs');
});

describe('every change shows, is restored, and is in the emergency snapshot', () => {
  test.each<{ what: string; change: () => void }>([
    { what: 'a byte in a hole', change: () => put(vast, 50 * 2 ** 30 + 12_345, 'x') },
    { what: 'a byte in the data', change: () => put(vast, 5 * range + 100, 'y') },
    { what: 'a larger size', change: () => truncateSync(vast, size + 1) },
    { what: 'a smaller size', change: () => truncateSync(vast, size - 2 * range) },
    { what: 'data that is zeros now', change: () => put(vast, 40 * 2 ** 30, '\0'.repeat(range)) },
    { what: 'the bytes of its blob, as a plain file', change: () => becomeItsBlob() },
  ])('$what', async ({ change }) => {
    const before = look(vast);
    await save();
    change();
    const after = look(vast);

    expect(await snap('diff', '1', '--name-only')).toBe('m/vast.img\n');
    expect(await snap('restore', '1', '--yes')).toContain('Restored 1 file');
    expect(look(vast)).toEqual(before);
    await snap('undo', '--yes');
    expect(contentOf(look(vast))).toEqual(contentOf(after));
  });
});

/** Zeros that were written need not be there as such again. */
function contentOf(seen: ReturnType<typeof look>): unknown {
  return { size: seen.size, ranges: seen.ranges.filter(([start]) => start !== 40 * 2 ** 30) };
}

function becomeItsBlob(): void {
  const store = ['--git-dir', join(area, 'data/store.git')];
  const ref = spawnSync('git', [...store, 'for-each-ref', '--format=%(refname)', 'refs/jackin'], { encoding: 'utf8' });
  const blob = spawnSync('git', [...store, 'cat-file', 'blob', `${ref.stdout.trim()}:mounts/m/vast.img`]);
  renameSync(vast, join(area, 'aside'));
  writeFileSync(vast, blob.stdout);
}

test('a file that looks like such a blob is a file like others', async () => {
  const content = `jackin-ranges 1\n${size}\n\n`;
  writeFileSync(join(mount, 'crafted'), content);
  await save();
  expect(await snap('cat', '1', 'crafted')).toBe(content);
  expect(await snap('tree', '1', 'crafted')).toContain(`${content.length} crafted`);
  writeFileSync(join(mount, 'crafted'), 'other');
  await snap('restore', '1', '--yes');
  expect(readFileSync(join(mount, 'crafted'), 'latin1')).toBe(content);
  await snap('restore', '1', '--yes', '--to', join(area, 'to'));
  expect(readFileSync(join(area, 'to/crafted'), 'latin1')).toBe(content);
  expect(look(join(area, 'to/vast.img'))).toEqual(look(vast));
});

test.each([
  { what: 'there is no tar', tar: undefined },
  { what: 'tar is another one', tar: '#!/bin/sh\nexit 2\n' },
  { what: 'tar says something else', tar: '#!/bin/sh\nexec head -c 100000 /dev/zero\n' },
])('where $what, a file is the same, only later', async ({ tar }) => {
  truncateSync(vast, 2 ** 30);
  const bin = join(area, 'bin');
  mkdirSync(bin);
  for (const name of ['git', 'flock']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  if (tar !== undefined) writeFileSync(join(bin, 'tar'), tar, { mode: 0o755 });
  const without = options({ PATH: bin });
  const before = look(vast);
  expect((await runSnap(['save', '--max-file-size', '200G'], without)).code).toBe(0);
  expect(await save('--if-changed', '--full')).toContain('Nothing changed');
  truncateSync(vast, 0);
  expect((await runSnap(['restore', '1', '--yes'], without)).code).toBe(0);
  expect(look(vast)).toEqual(before);
});

test('the tar of a folder that is saved is not run', async () => {
  truncateSync(vast, 2 ** 30);
  mkdirSync(join(mount, 'bin'));
  writeFileSync(join(mount, 'bin/tar'), `#!/bin/sh\ntouch ${area}/ran\n`, { mode: 0o755 });
  const env = {
    PATH: `${mount}/bin:${process.env['PATH'] ?? ''}`,
    TAR_OPTIONS: `--checkpoint-action=exec=${mount}/bin/tar`,
  };
  expect((await runSnap(['save', '--max-file-size', '200G'], options(env))).code).toBe(0);
  expect(readdirSync(area)).not.toContain('ran');
});

test('its access time and those of the others stay', async () => {
  const before = lstatSync(vast, { bigint: true });
  await save();
  expect(lstatSync(vast, { bigint: true })).toMatchObject({ atimeNs: before.atimeNs, ctimeNs: before.ctimeNs });
});

describe('a restore that was killed', () => {
  test.each([
    { how: 'is taken back', direction: '--abort' },
    { how: 'is finished', direction: '--continue' },
  ])('$how', async ({ direction }) => {
    const then = look(vast);
    await save();
    put(vast, 7 * 2 ** 30, 'changed');
    const now = look(vast);
    // Before it is made, while it is written, before it has its size, its mode and its name.
    for (const at of [1, 4, 8, 9, 10]) {
      const env = { NODE_OPTIONS: `--import=${hook}`, DIE_BELOW: mount, DIE_AT: String(at) };
      expect((await runSnap(['restore', '1', '--yes'], options(env))).signal).toBe('SIGKILL');
      expect(look(vast)).toEqual(now);
      await snap('recover', direction, '--yes');
      expect(look(vast)).toEqual(direction === '--abort' ? now : then);
      expect(readdirSync(mount).sort()).toEqual(['small', 'vast.img']);
      if (direction === '--continue') put(vast, 7 * 2 ** 30, 'changed');
    }
  });
});

const hook = join(import.meta.dirname, '../acceptance/die-at.js');

test('its tar is one that tar takes', async () => {
  truncateSync(vast, 2 ** 29);
  await save();
  await snap('export', '1', join(area, 'x.tar'));
  mkdirSync(join(area, 'out'));
  const { code } = runProcess('tar', ['-xf', '../x.tar'], {
    cwd: join(area, 'out'),
    env: { PATH: '/usr/bin:/bin' },
    timeout: aMinute,
  });
  expect(code).toBe(0);
  expect(readFileSync(join(area, 'out/vast.img')).equals(readFileSync(vast))).toBe(true);
});

test('cat gives it with its zeros', async () => {
  truncateSync(vast, 300 * 2 ** 20);
  await save();
  const { stdoutBytes } = await runSnap(['cat', '1', 'vast.img'], options());
  expect(stdoutBytes.equals(readFileSync(vast))).toBe(true);
});
