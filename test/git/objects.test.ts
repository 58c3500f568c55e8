import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import type { ObjectReader } from '../../src/core/ports.js';
import { openStore } from '../../src/git/store.js';
import { storeGit } from '../support/store-git.js';
import { bytesOf, explode, loosePath, preparedStore, publishSnapshot } from './fixture.js';

const damaged = { code: 'STORE_DAMAGED' };
const absent = 'e'.repeat(40) as ObjectId;

async function withBlobs(contents: readonly Buffer[]) {
  const area = await preparedStore();
  const writer = area.store.newWriter();
  const oids = contents.map((content) => writer.writeBlob(content));
  await writer.publish();
  const reader = area.store.reader();
  return { ...area, oids, reader };
}

describe('a reader', () => {
  test('reads by id, by ref and by path, any type', async () => {
    const { store, dataDir } = await preparedStore();
    const commit = await publishSnapshot(store, 1, { a: 'content', '\xff name': 'b' });
    const reader = store.reader();
    expect((await reader.read(commit, 'commit')).content.toString()).toContain('Jackin-Seq: 1');
    expect((await reader.read('refs/jackin/t/1', 'commit')).oid).toBe(commit);
    expect((await reader.read('refs/jackin/t/1:mounts/m/a', 'blob')).content.toString()).toBe('content');
    expect((await reader.read('refs/jackin/t/1:mounts/m/\xff name', 'blob')).content.toString()).toBe('b');
    const tree = await reader.read('refs/jackin/t/1:mounts', 'tree');
    expect(tree.oid).toBe(storeGit(dataDir, ['rev-parse', 'refs/jackin/t/1:mounts']).stdout.trim());
    await reader.close();
  });

  test('finds nothing where nothing is; to read that is a failure', async () => {
    const { reader } = await withBlobs([]);
    for (const name of [absent, 'refs/jackin/t/1', 'nonsense', 'with space blob 3']) {
      expect(await reader.find(name, 'blob')).toBeUndefined();
      await expect(reader.read(name, 'blob')).rejects.toMatchObject(damaged);
    }
    await expect(async () => reader.find('two\nlines', 'blob')).rejects.toMatchObject({ code: 'INTERNAL' });
    await reader.close();
  });

  test('answers what was expected, in its order, left out, out of it, or never expected at all', async () => {
    const contents = Array.from({ length: 40 }, (_, at) => Buffer.alloc(at * 97, `${at} `));
    const { oids, reader } = await withBlobs(contents);
    const content = async (at: number) => {
      const chunks: Buffer[] = [];
      await reader.stream(oids[at]!, (chunk) => void chunks.push(chunk));
      return Buffer.concat(chunks);
    };
    reader.expect(oids);
    for (const at of [0, 1, 5, 4, 39, 39, 2]) expect(await content(at)).toEqual(contents[at]);
    reader.expect(oids.slice(10, 20));
    expect(await reader.find(absent, 'blob')).toBeUndefined();
    reader.expect([absent, ...oids.slice(0, 3), oids[1]!]);
    expect(await Promise.all([2, 1, 0].map(content))).toEqual([2, 1, 0].map((at) => contents[at]));
    reader.expect([absent]);
    await expect(content(7)).resolves.toEqual(contents[7]);
    reader.expect(oids);
    await reader.close();
  });

  test('passes over what was expected and is large, damaged or missing', async () => {
    const contents = [Buffer.from('first'), randomBytes(3_000_000), Buffer.from('damaged'), Buffer.from('last')];
    const { oids, reader, directory, dataDir } = await withBlobs(contents);
    explode(dataDir, directory);
    const path = loosePath(directory, oids[2]!);
    chmodSync(path, 0o600);
    writeFileSync(path, 'no object');
    for (const wanted of [3, 0, 3]) {
      reader.expect([...oids, absent, oids[wanted]!]);
      await expect(reader.read(oids[wanted]!, 'blob')).resolves.toMatchObject({ content: contents[wanted] });
    }
    reader.expect(oids);
    await expect(reader.read(oids[2]!, 'blob')).rejects.toMatchObject(damaged);
    await expect(reader.read(oids[3]!, 'blob')).resolves.toMatchObject({ content: contents[3] });
    await reader.close();
  });

  test('refuses another type and more than the limit, and goes on', async () => {
    const { oids, reader } = await withBlobs([Buffer.alloc(10), Buffer.alloc(5_000_000, 'x')]);
    const [small, large] = oids as [ObjectId, ObjectId];
    await expect(reader.read(small, 'tree')).rejects.toMatchObject(damaged);
    await expect(reader.read(small, 'blob', 9)).rejects.toMatchObject(damaged);
    const around = [
      reader.read(small, 'blob', 10),
      reader.read(large, 'blob', 10),
      reader.read(small, 'blob'),
      reader.find(absent, 'blob'),
    ];
    expect(await Promise.allSettled(around)).toMatchObject([
      { value: { content: { length: 10 } } },
      { reason: damaged },
      { value: { content: { length: 10 } } },
      { value: undefined },
    ]);
    expect((await reader.read(large, 'blob')).content.length).toBe(5_000_000);
    await reader.close();
  });

  test('answers a thousand questions asked at once', async () => {
    const contents = Array.from({ length: 1000 }, (_, index) => randomBytes(index));
    const { oids, reader } = await withBlobs(contents);
    const answers = await Promise.all(oids.map((oid) => reader.read(oid, 'blob')));
    expect(answers.every(({ content }, index) => content.equals(contents[index]!))).toBe(true);
    await reader.close();
  });

  test('streams piece by piece, no faster than the pieces are taken', async () => {
    const content = randomBytes(20_000_000);
    const { oids, reader } = await withBlobs([content, Buffer.alloc(0)]);
    const chunks: Buffer[] = [];
    let busy = 0;
    await reader.stream(oids[0]!, async (chunk) => {
      expect(++busy).toBe(1);
      chunks.push(Buffer.from(chunk));
      await new Promise((resolve) => setImmediate(resolve));
      busy--;
    });
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024);
    await reader.stream(oids[1]!, () => expect.unreachable());
    await reader.close();
  });

  test('goes on after whoever takes the pieces failed', async () => {
    const { oids, reader } = await withBlobs([randomBytes(20_000_000), bytesOf('small')]);
    const refuse = (): void => {
      throw new Error('no more');
    };
    await expect(reader.stream(oids[0]!, refuse)).rejects.toThrow('no more');
    expect((await reader.read(oids[1]!, 'blob')).content.toString()).toBe('small');
    await reader.close();
  });

  test.each([
    { what: 'garbage', bytes: () => bytesOf('garbage') },
    { what: 'an empty file', bytes: () => bytesOf('') },
    { what: 'another content', bytes: () => deflateSync('blob 5\0other') },
    {
      what: 'a torn file',
      bytes: () => deflateSync(Buffer.concat([bytesOf('blob 100000\0'), randomBytes(100_000)])).subarray(0, 50_000),
    },
  ])('says STORE_DAMAGED for an object that is $what, and reads the others', async ({ bytes }) => {
    const { dataDir, directory, oids, store } = await withBlobs([bytesOf('first'), bytesOf('last!')]);
    explode(dataDir, directory);
    const path = loosePath(directory, oids[0]!);
    chmodSync(path, 0o600);
    writeFileSync(path, bytes());
    const reader: ObjectReader = store.reader();
    const all = [
      reader.read(oids[0]!, 'blob'),
      reader.stream(oids[0]!, () => undefined),
      reader.read(oids[1]!, 'blob'),
    ];
    expect(await Promise.allSettled(all)).toMatchObject([
      { reason: damaged },
      { reason: damaged },
      { value: { oid: oids[1] } },
    ]);
    await reader.close();
  });

  test('fails, and does not hang, when its process is killed', async () => {
    const { oids, reader } = await withBlobs([randomBytes(30_000_000), bytesOf('small')]);
    let killed = false;
    const streaming = reader.stream(oids[0]!, async () => {
      if (!killed) killCatFile();
      killed = true;
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
    await expect(streaming).rejects.toMatchObject({ code: 'GIT_FAILED' });
    expect((await reader.read(oids[1]!, 'blob')).content.toString()).toBe('small');
    await reader.close();
  });

  test('is ended by an interruption', async () => {
    const controller = new AbortController();
    const { store, dataDir } = await preparedStore({ signal: controller.signal });
    await publishSnapshot(store, 1, { a: 'a' });
    const reader = store.reader();
    expect(await reader.find('refs/jackin/t/1', 'commit')).toBeDefined();
    controller.abort('SIGINT');
    await expect(reader.find('refs/jackin/t/1', 'commit')).rejects.toMatchObject({
      code: 'INTERRUPTED',
      data: { signal: 'SIGINT' },
    });
    await reader.close();
    rmSync(dataDir, { recursive: true });
  });

  test('can be closed twice, unused, and with questions open', async () => {
    const { oids, reader, store } = await withBlobs([randomBytes(10_000_000)]);
    const open = reader.stream(oids[0]!, () => undefined).catch((error: unknown) => error);
    await reader.close();
    await open;
    await reader.close();
    await expect(store.reader().close()).resolves.toBeUndefined();
  });

  test('can be closed when git could not be started: that failed the question', async () => {
    const failed = Object.assign(new Error('a folder cannot be read'), { code: 'EACCES' });
    const { dataDir } = await preparedStore();
    const forbiddenProgramDirectories = (): never => {
      throw failed;
    };
    const store = openStore({ env: process.env, dataDir, forbiddenProgramDirectories });
    const reader = store.reader();
    await expect(reader.read(absent, 'blob')).rejects.toBe(failed);
    await expect(reader.close()).resolves.toBeUndefined();
  });

  test('starts no git after its end, which nobody would end: neither for what is open nor for what is asked late', async () => {
    const { oids, reader } = await withBlobs([randomBytes(10_000_000), Buffer.from('small')]);
    const open = oids.map((oid) => reader.read(oid, 'blob', 10).catch((error: unknown) => error));
    await reader.close();
    await Promise.all(open);
    await expect(reader.find(oids[1]!, 'blob')).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(childrenOf(process.pid).filter((pid) => commandOf(pid).includes('cat-file'))).toEqual([]);
  });
});

/** The `cat-file` that this very test process started. */
function killCatFile(): void {
  const pids = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('cat-file'));
  expect(pids).toHaveLength(1);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(
      (name) =>
        /^[0-9]+$/.test(name) && read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ')[1] === String(parent),
    )
    .map(Number);
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

/** A process may end at any moment; then there is nothing to read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
