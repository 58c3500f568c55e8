import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { InstanceName } from '../../src/core/ids.js';
import type { Locks } from '../../src/core/ports.js';
import { type LockOptions, openLocks } from '../../src/git/flock.js';
import { tempDir } from '../support/temp.js';

const instance = 'some-instance' as InstanceName;
const holder = { pid: process.pid, command: 'jackin-snap save' };

function locksIn(dataDir: string, options: Partial<LockOptions> = {}): Locks {
  return openLocks({ dataDir, env: process.env, forbiddenDirectories: () => [], holder, ...options });
}

const fresh = (): string => join(tempDir('locks'), 'data');

describe('a lock', () => {
  test('of an instance keeps everybody else out until it is released', async () => {
    const dataDir = fresh();
    const locks = locksIn(dataDir);
    const held = await locks.instance(instance);
    const busy = {
      code: 'BUSY',
      data: { lock: 'instance some-instance', holder: `process ${process.pid} (jackin-snap save)` },
    };
    await expect(locks.instance(instance, 0)).rejects.toMatchObject(busy);
    await expect(locksIn(dataDir).instance(instance, 0.1)).rejects.toMatchObject(busy);
    const waiting = locks.instance(instance, 10);
    held.release();
    held.release();
    (await waiting).release();
    (await locks.instance(instance, 0)).release();
  });

  test('of one instance does not hold up another, nor the store', async () => {
    const locks = locksIn(fresh());
    const all = await Promise.all([
      locks.instance(instance),
      locks.instance('store' as InstanceName),
      locks.storeExclusive(),
    ]);
    expect(all).toHaveLength(3);
    for (const held of all) held.release();
  });

  test('of the store is shared by many, or had by one', async () => {
    const locks = locksIn(fresh());
    const [one, two] = await Promise.all([locks.storeShared(), locks.storeShared()]);
    await expect(locks.storeExclusive(0)).rejects.toMatchObject({
      code: 'BUSY',
      data: { lock: 'the store', holder: 'another process' },
    });
    one.release();
    two.release();
    const alone = await locks.storeExclusive(0);
    await expect(locks.storeShared(0)).rejects.toMatchObject({ code: 'BUSY' });
    alone.release();
  });

  test('goes with the process that held it, however it ended', async () => {
    const dataDir = fresh();
    mkdirSync(join(dataDir, 'locks'), { recursive: true });
    const path = join(dataDir, 'locks', `${instance}.lock`);
    // Another process holds it as we do: the descriptor is its own, flock(1) only took the lock.
    const script = `exec 3<>'${path}'; flock -x 3; echo held; exec sleep 100`;
    const other = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(other.stdout, 'data');
    const locks = locksIn(dataDir);
    await expect(locks.instance(instance, 0)).rejects.toMatchObject({ code: 'BUSY' });
    const waiting = locks.instance(instance, 10);
    other.kill('SIGKILL');
    (await waiting).release();
  });

  test('that we hold is seen by other programs', async () => {
    const dataDir = fresh();
    const held = await locksIn(dataDir).storeExclusive();
    const path = join(dataDir, 'locks/_store.lock');
    const tried = async (): Promise<number> => {
      const [code] = (await once(spawn('flock', ['-n', path, 'true']), 'exit')) as [number];
      return code;
    };
    expect(await tried()).toBe(1);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(holder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    held.release();
    expect(await tried()).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('is not had on a file that lost its name meanwhile', async () => {
    const dataDir = fresh();
    const locks = locksIn(dataDir);
    const held = await locks.instance(instance);
    const waiting = locks.instance(instance, 10);
    await new Promise((resolve) => setTimeout(resolve, 100));
    rmSync(join(dataDir, 'locks', `${instance}.lock`));
    held.release();
    const second = await waiting;
    await expect(locks.instance(instance, 0)).rejects.toMatchObject({ code: 'BUSY' });
    second.release();
  });

  test('is never taken through a link', async () => {
    const dataDir = fresh();
    mkdirSync(join(dataDir, 'locks'), { recursive: true });
    writeFileSync(join(dataDir, 'target'), 'precious');
    symlinkSync('../target', join(dataDir, 'locks', `${instance}.lock`));
    await expect(locksIn(dataDir).instance(instance)).rejects.toMatchObject({ code: 'ELOOP' });
    expect(readFileSync(join(dataDir, 'target'), 'utf8')).toBe('precious');
  });
});

describe('waiting', () => {
  test('ends with an interruption', async () => {
    const dataDir = fresh();
    const held = await locksIn(dataDir).instance(instance);
    const controller = new AbortController();
    const waiting = locksIn(dataDir, { signal: controller.signal }).instance(instance, 60);
    setTimeout(() => controller.abort('SIGTERM'), 50);
    await expect(waiting).rejects.toMatchObject({ code: 'INTERRUPTED', data: { signal: 'SIGTERM' } });
    held.release();
  });

  test('tells of a holder that is not described', async () => {
    const dataDir = fresh();
    const held = await locksIn(dataDir).instance(instance);
    writeFileSync(join(dataDir, 'locks', `${instance}.lock`), 'no JSON');
    await expect(locksIn(dataDir).instance(instance, 0)).rejects.toMatchObject({
      code: 'BUSY',
      data: { holder: 'another process' },
    });
    held.release();
  });

  test('needs flock(1), and names it', async () => {
    const dataDir = fresh();
    const locks = locksIn(dataDir, { env: { PATH: tempDir('empty') } });
    await expect(locks.instance(instance)).rejects.toMatchObject({ code: 'GIT_MISSING', data: { program: 'flock' } });
  });

  test('fails as such when flock(1) is another program', async () => {
    const dataDir = fresh();
    const bin = tempDir('bin');
    writeFileSync(join(bin, 'flock'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const locks = locksIn(dataDir, { env: { PATH: bin } });
    await expect(locks.instance(instance)).rejects.toMatchObject({
      code: 'GIT_FAILED',
      data: { command: 'flock', exitCode: 1 },
    });
  });
});
