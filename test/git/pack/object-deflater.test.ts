import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';

import { Batch } from '../../../src/git/pack/batch.js';
import { DeflateThread, type ThreadSettings } from '../../../src/git/pack/deflate-threads.js';
import { encodeObject } from '../../../src/git/pack/format.js';
import { KnownObjects } from '../../../src/git/pack/known-objects.js';
import { otherWork } from '../../../src/git/pack/other-work.js';
import { PackWriter } from '../../../src/git/pack/pack-writer.js';
import { fsckStrict, storeGit } from '../../support/store-git.js';
import { commitContent, file, makeDirectory, openingIn, peakMemory, preparedStore, runScript } from '../fixture.js';
import { builtThread, threadThat } from './threads.js';

const mebibyte = 1024 * 1024;

/** Some 30 MiB: small and large, repetitive and random, so that batches fill up, and some objects go past them. */
const contents = Array.from({ length: 3000 }, (_, index) => {
  const size = index % 500 === 499 ? (2 + index / 500) * mebibyte : (index * 7919) % 9000;
  return index % 3 === 0 ? randomBytes(size) : Buffer.alloc(size, `${index}, and so on\n`);
});

async function writerWith(
  threads: ThreadSettings,
): Promise<Awaited<ReturnType<typeof preparedStore>> & { writer: PackWriter; tmp: () => string[] }> {
  const area = await preparedStore();
  const objects = join(area.directory, 'objects');
  const scratchParent = join(area.dataDir, 'tmp');
  const writer = new PackWriter(new KnownObjects(objects), {
    scratchParent,
    packDirectory: makeDirectory(join(objects, 'pack')),
    durable: true,
    threads,
  });
  return { ...area, writer, tmp: () => (existsSync(scratchParent) ? readdirSync(scratchParent) : []) };
}

/** The threads that are started from now on. */
function watchThreads(): Worker[] {
  const started: Worker[] = [];
  const watch = (worker: Worker): number => started.push(worker);
  process.on('worker', watch);
  onTestFinished(() => void process.off('worker', watch));
  return started;
}

async function writeAll(writer: PackWriter): Promise<void> {
  for (const [index, content] of contents.entries()) {
    writer.writeBlob(content);
    // As a walk does: now and then the event loop has its turn.
    if (index % 64 === 0) await otherWork();
  }
}

describe('what threads encode', () => {
  test.each([
    { how: 'by one thread', script: builtThread, count: 1 },
    { how: 'by three', script: builtThread, count: 3 },
    { how: 'by none', script: builtThread, count: 0 },
    { how: 'where the script is missing', script: () => pathToFileURL('/nowhere/thread.js'), count: 2 },
    { how: 'by threads that end at the first batch', script: () => threadThat('process.exit()'), count: 2 },
    { how: 'by threads that end in it', script: () => threadThat('claim(memory); process.exit()'), count: 2 },
    { how: 'by threads that fail in it', script: () => threadThat('claim(memory); throw new Error()'), count: 2 },
    { how: 'by threads that do nothing', script: () => threadThat(''), count: 2 },
  ])('$how is all there, and what git reads', async ({ script, count }) => {
    const { store, dataDir, writer, tmp } = await writerWith({ script: await script(), count });
    await writeAll(writer);
    const large = randomBytes(mebibyte);
    let given = 0;
    const next = (buffer: Uint8Array): number => (given++ % 10 === 9 ? 0 : (buffer.set(large.subarray(0, 1000)), 1000));
    const streamed = await writer.writeLargeBlob(9000, () => ({ next }));
    const blobs = contents.map((content) => writer.writeBlob(content));
    const tree = writer.writeTree([...blobs, streamed!].map((oid, index) => file(`f${index}`, oid)));
    const commit = writer.writeCommit(commitContent(tree, 'm\n'));
    await writer.publish();
    await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);
    expect(fsckStrict(dataDir)).toEqual([]);
    const sum = (content: Buffer): string => createHash('sha1').update(content).digest('hex');
    const read = storeGit(dataDir, ['cat-file', '--batch', '--buffer'], { stdin: blobs.join('\n') }).stdoutBytes;
    const wanted = contents.map((content, index) =>
      Buffer.concat([Buffer.from(`${blobs[index]!} blob ${content.length}\n`), content, Buffer.from('\n')]),
    );
    expect(sum(read)).toBe(sum(Buffer.concat(wanted)));
    expect(tmp()).toEqual([]);
  });

  test('is what this thread would have made of it', async () => {
    const [thread] = DeflateThread.start({ script: await builtThread(), count: 1 });
    onTestFinished(() => thread!.stop());
    const batch = Batch.withRoomFor(mebibyte);
    const small = contents.filter(({ length }) => length < 9000).slice(0, 200);
    for (const content of small) batch.add('blob', content);
    // Told of it while it is being filled, as by a message that is left from an earlier use of its memory.
    thread!.give(batch);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([batch.isEncoded, batch.claim()]).toEqual([false, false]);
    batch.close();
    thread!.give(batch);
    while (!batch.isEncoded) {
      batch.waitBriefly();
      await otherWork();
    }
    const { bytes, lengths } = batch.encoded();
    const expected = small.map((content) => encodeObject('blob', content));
    expect([...Array.from(lengths)]).toEqual(expected.map(({ length }) => length));
    expect(Buffer.concat(expected).equals(bytes)).toBe(true);
  });
});

test('the same content makes the same pack, whoever encodes it', async () => {
  const packs = new Set<string>();
  for (const count of [0, 1, 3]) {
    const { writer, directory } = await writerWith({ script: await builtThread(), count });
    await writeAll(writer);
    await writer.publish();
    for (const name of readdirSync(join(directory, 'objects/pack'))) packs.add(name);
  }
  expect([...packs].map((name) => name.slice(-4)).sort()).toEqual(['.idx', 'pack']);
});

describe('threads', () => {
  test('are not started for a small save', async () => {
    const started = watchThreads();
    const { writer } = await writerWith({ script: await builtThread(), count: 1 });
    for (let object = 0; object < 30; object++) writer.writeBlob(randomBytes(100_000));
    await writer.publish();
    expect(started).toEqual([]);
  });

  test.each([
    { how: 'published', end: (writer: PackWriter) => writer.publish() },
    { how: 'abandoned', end: (writer: PackWriter) => writer.abandon() },
  ])('have ended when the save is $how', async ({ end }) => {
    const started = watchThreads();
    const { writer, tmp } = await writerWith({ script: await builtThread(), count: 2 });
    await writeAll(writer);
    const exits = started.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    expect(started).toHaveLength(2);
    await end(writer);
    await Promise.all(exits);
    expect(started.map(({ threadId }) => threadId)).toEqual([-1, -1]);
    expect(tmp()).toEqual([]);
  });

  test('keep no process alive', async () => {
    const { dataDir } = await preparedStore();
    const { code, text, errors } = await runScript(
      writingIn(dataDir, await builtThread(), 12, `process.on('exit', () => console.log('over'));`),
    );
    expect({ code, text, errors }).toEqual({ code: 0, text: 'over\n', errors: '' });
  });

  test('leave memory bounded, however much is written', async () => {
    const { dataDir } = await preparedStore();
    const before = `const before = ${peakMemory};`;
    const after = `await writer.publish();
      console.log((${peakMemory} - before) / 1024);`;
    const { text, errors } = await runScript(writingIn(dataDir, await builtThread(), 500, before, after));
    expect(errors).toBe('');
    expect(Number(text)).toBeGreaterThan(20);
    expect(Number(text)).toBeLessThan(200);
  });
});

/** A script that writes so many MiB in objects of 16 KiB, half of each random. */
function writingIn(dataDir: string, thread: URL, mebibytes: number, before = '', after = ''): string {
  const src = join(import.meta.dirname, '../../../src/git/pack');
  return `${openingIn(dataDir)}
    import { randomFillSync } from 'node:crypto';
    import { KnownObjects } from ${JSON.stringify(join(src, 'known-objects.ts'))};
    import { PackWriter } from ${JSON.stringify(join(src, 'pack-writer.ts'))};
    await store.prepare();
    ${before}
    const objects = ${JSON.stringify(join(dataDir, 'store.git/objects'))};
    const writer = new PackWriter(new KnownObjects(objects), {
      scratchParent: ${JSON.stringify(join(dataDir, 'tmp'))},
      packDirectory: objects + '/pack',
      durable: false,
      threads: { script: new URL(${JSON.stringify(thread.href)}), count: 2 },
    });
    const content = Buffer.alloc(16384);
    for (let object = 0; object < ${mebibytes * 64}; object++) {
      randomFillSync(content, 0, 8192);
      writer.writeBlob(content);
      if (object % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    ${after}`;
}
