import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { systemCode } from '../../src/errors.js';
import { writeDurably } from '../../src/fs/durable.js';
import { isDiskFull } from '../../src/git/full-disk.js';
import { fsckStrict, refsOf } from '../support/store-git.js';
import { makeTempDir } from '../support/temp.js';
import { type StoreArea, bytesOf, collectGarbage, preparedStore, publishSnapshot, writeSnapshot } from './fixture.js';

const noSpace = { code: 'NO_SPACE' };
const canMount = process.getuid?.() === 0 && mountTmpfs(makeTempDir('probe'), unmount);

describe.runIf(canMount)('on a full disk', () => {
  let area: StoreArea;
  let disk: string;

  beforeEach(async () => {
    disk = makeTempDir('disk');
    mountTmpfs(disk);
    area = await preparedStore({ dataDir: join(disk, 'data') });
    await publishSnapshot(area.store, 1, { a: 'a' });
  });

  afterEach(() => unmount(disk));

  function leftovers(): string[] {
    const names = readdirSync(area.dataDir, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /tmp.|\.new$|\.lock$/.test(name.split('/').at(-1) ?? '') || /^tmp\/./.test(name));
  }

  /** Leaves this many bytes free. */
  function fill(left: number): void {
    const fd = openSync(join(disk, 'ballast'), 'a');
    try {
      for (let size = freeIn(disk) - left; size > 0; size = freeIn(disk) - left)
        writeSync(fd, Buffer.alloc(Math.min(size, 65_536), 1));
    } catch (error) {
      if (systemCode(error) !== 'ENOSPC') throw error;
    } finally {
      closeSync(fd);
    }
  }

  async function isAsBefore(): Promise<void> {
    expect(leftovers()).toEqual([]);
    rmSync(join(disk, 'ballast'), { force: true });
    expect((await area.store.snapshots(null)).map(({ seq }) => seq)).toEqual([1]);
    expect(fsckStrict(area.dataDir)).toEqual([]);
    await publishSnapshot(area.store, 2, { a: 'b' });
    expect((await area.store.snapshots(null)).map(({ seq }) => seq)).toEqual([1, 2]);
  }

  test('a save that is larger than what is left fails and leaves nothing', async () => {
    const writer = area.store.newWriter();
    expect(() => {
      for (let n = 0; n < 100; n++) writer.writeBlob(randomBytes(1_000_000));
    }).toThrow(expect.objectContaining(noSpace));
    await writer.abandon();
    await isAsBefore();
  });

  test('a large blob that does not fit fails and leaves nothing', async () => {
    const writer = area.store.newWriter();
    fill(100_000);
    const noise = randomBytes(512 * 1024);
    const random = () => {
      let left = 100;
      return {
        next: (buffer: Uint8Array) => (left-- > 0 ? (buffer.set(noise.subarray(0, buffer.length)), buffer.length) : 0),
      };
    };
    await expect(writer.writeLargeBlob(100 * 512 * 1024, random)).rejects.toMatchObject(noSpace);
    await writer.abandon();
    await isAsBefore();
  });

  test('publishing fails and leaves nothing', async () => {
    const writer = area.store.newWriter();
    writeSnapshot(writer, { a: randomBytes(400_000).toString('latin1') });
    fill(200_000);
    await expect(writer.publish()).rejects.toMatchObject(noSpace);
    await isAsBefore();
  });

  test('refs stay as they were', async () => {
    const writer = area.store.newWriter();
    const commit = writeSnapshot(writer, { a: 'new' });
    await writer.publish();
    fill(0);
    await expect(area.store.changeRefs([{ name: 'refs/jackin/t/2', old: null, new: commit }])).rejects.toMatchObject(
      noSpace,
    );
    await isAsBefore();
  });

  test('garbage is not collected without room for it', async () => {
    await publishSnapshot(area.store, 2, { big: randomBytes(3_000_000).toString('latin1') });
    const before = refsOf(area.directory);
    fill(1_000_000);
    await expect(collectGarbage(area.store)).rejects.toMatchObject(noSpace);
    expect(refsOf(area.directory)).toEqual(before);
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });

  test('garbage that is more than there is room for is collected: what is kept has room', async () => {
    const writer = area.store.newWriter();
    writer.writeBlob(randomBytes(3_000_000));
    await writer.publish();
    fill(1_000_000);
    // What is young is kept, and finds none.
    await expect(collectGarbage(area.store, 600)).rejects.toMatchObject(noSpace);
    const size = await area.store.sizeOnDisk();
    await collectGarbage(area.store);
    // A note of a block takes its place.
    expect(size - (await area.store.sizeOnDisk())).toBeGreaterThan(2_990_000);
    await isAsBefore();
  });

  test('packs are not put together without room for it, and refs stay', async () => {
    for (let count = 0; count < 2; count++) {
      const writer = area.store.newWriter();
      writer.writeBlob(randomBytes(1_500_000));
      await writer.publish();
    }
    const packs = readdirSync(join(area.directory, 'objects/pack'));
    fill(1_000_000);
    await expect(area.store.gatherPacks()).rejects.toMatchObject(noSpace);
    fill(0);
    await expect(area.store.packRefs()).rejects.toMatchObject(noSpace);
    expect(readdirSync(join(area.directory, 'objects/pack'))).toEqual(packs);
    await isAsBefore();
  });

  test('a durable file stays as it was', () => {
    const path = join(disk, 'file');
    writeDurably(path, 'before');
    fill(0);
    expect(() => {
      writeDurably(path, bytesOf('x'.repeat(100_000)));
    }).toThrow(expect.objectContaining(noSpace));
    expect(readdirSync(disk).sort()).toEqual(['ballast', 'data', 'file']);
  });

  test('fullness is found by trying', () => {
    expect(isDiskFull(area.directory)).toBe(false);
    fill(0);
    expect(isDiskFull(area.directory)).toBe(true);
    rmSync(join(disk, 'ballast'));
    expect(isDiskFull(area.directory)).toBe(false);
    expect(isDiskFull(join(disk, 'absent'))).toBe(false);
  });

  test('a disk that has room, and no inodes, is full', () => {
    const { files, ffree } = statfsSync(disk);
    execFileSync('mount', ['-o', `remount,nr_inodes=${files - ffree + 5}`, disk]);
    expect(isDiskFull(area.directory)).toBe(true);
    execFileSync('mount', ['-o', `remount,nr_inodes=${files}`, disk]);
    expect(isDiskFull(area.directory)).toBe(false);
  });
});

function freeIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function mountTmpfs(directory: string, then: (directory: string) => void = () => undefined): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    return false;
  }
  then(directory);
  return true;
}

function unmount(directory: string): void {
  execFileSync('umount', ['-l', directory]);
  rmSync(directory, { recursive: true });
}
