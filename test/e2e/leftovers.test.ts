import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openLocks } from '../../src/git/flock.js';
import { runSnap } from '../support/cli.js';
import { refsOf } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

const leftovers = [
  'tmp/0123456789abcdef0123456789abcdef/pack',
  'store.git/objects/pack/tmp_pack_Ab12Cd',
  'store.git/packed-refs.lock',
  'store.git/refs/jackin/demo/2.lock',
];

test.each(leftovers)('what a killed save left, %s, stops no save and is removed by it', async (leftover) => {
  const { mount, dataDir } = await savedOnce();
  put(join(dataDir, leftover));

  const { code, stderr } = await runSnap(['-i', 'demo', 'save'], { cwd: mount, dataDir });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect([...refsOf(join(dataDir, 'store.git')).keys()]).toContain('refs/jackin/demo/2');
  expect(existsSync(join(dataDir, leftover))).toBe(false);
  expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
});

test('what lies there while somebody is in the store may be theirs, and stays', async () => {
  const { mount, dataDir } = await savedOnce();
  const theirs = join(dataDir, leftovers[0]!);
  put(theirs);
  const holder = { pid: process.pid, command: 'test' };
  const locks = openLocks({ dataDir, env: process.env, forbiddenDirectories: () => [], holder });
  const held = await locks.storeShared();
  try {
    const { code } = await runSnap(['-i', 'demo', 'save'], { cwd: mount, dataDir });
    expect(code).toBe(0);
    expect(existsSync(theirs)).toBe(true);
  } finally {
    held.release();
  }
});

async function savedOnce(): Promise<{ mount: string; dataDir: string }> {
  const area = tempDir();
  const mount = join(area, 'mount');
  put(join(mount, 'a'));
  const { code } = await runSnap(['-i', 'demo', 'save'], { cwd: mount, dataDir: join(area, 'data') });
  expect(code).toBe(0);
  return { mount, dataDir: join(area, 'data') };
}

function put(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'x');
}
