import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { InstanceName } from '../../src/core/ids.js';
import { makeDirectoryDurably, writeCache, writeDurably } from '../../src/fs/durable.js';
import { openMount } from '../../src/fs/held-directory.js';
import { FileJournals } from '../../src/fs/journal.js';
import { fileCalls } from '../support/file-calls.js';
import { tempDir } from '../support/temp.js';

// A power cut keeps what was synced. So each of these has one order: content, its name, the directory of the name.

const demo = 'demo' as InstanceName;

/** Without what has a different name each time, and without what only opens. */
async function tracesOf(folder: string, act: () => unknown): Promise<string[]> {
  const calls = (await fileCalls(folder, act)).map((call) => call.replace(/\.[0-9a-f]{16}\.new/g, '.new'));
  return calls.filter((call) => !/^(open|fchmod|chmod) /.test(call));
}

describe('what is written durably', () => {
  test('is synced before it has its name, and its name before anybody is told', async () => {
    const folder = tempDir();
    expect(await tracesOf(folder, () => writeDurably(join(folder, 'a'), 'x'))).toEqual([
      'write a.new',
      'fsync a.new',
      'rename a.new a',
      'fsync .',
    ]);
  });

  test('is not synced where it is a cache, but written before it has its name', async () => {
    const folder = tempDir();
    expect(await tracesOf(folder, () => writeCache(join(folder, 'a'), 'x'))).toEqual(['write a.new', 'rename a.new a']);
  });

  test('in new directories has each of their names synced, from the top down', async () => {
    const folder = tempDir();
    expect(await tracesOf(folder, () => makeDirectoryDurably(join(folder, 'a/b')))).toEqual([
      'mkdir a',
      'fsync .',
      'mkdir a/b',
      'fsync a',
    ]);
  });
});

describe('a journal', () => {
  test('and its name are synced with each record, and its removal too', async () => {
    const folder = tempDir();
    const calls = await tracesOf(folder, () => {
      const journal = new FileJournals(folder).create(demo);
      journal.append([{ kind: 'done' }]);
      journal.append([{ kind: 'done' }]);
      journal.remove();
    });
    const record = ['write demo.journal', 'fsync demo.journal', 'fsync .'];
    expect(calls).toEqual([...record, ...record, 'unlink demo.journal', 'fsync .']);
  });
});

describe('in a mount', () => {
  test('a file is synced where that is asked for, and a directory when it is told to', async () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'd'));
    const root = openMount(folder as HostPath);
    const calls = await tracesOf(folder, () => {
      for (const [name, durable] of [
        ['a', true],
        ['b', false],
      ] as const) {
        const file = root.createFile(name);
        file.write(Buffer.from('x'));
        file.finish(durable);
      }
      const directory = root.enter('d');
      directory.sync();
      directory.close();
    });
    root.close();
    expect(calls).toEqual(['write a', 'fsync a', 'write b', 'fsync d']);
  });
});
