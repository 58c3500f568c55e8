import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { InstanceName, ObjectId, Seq } from '../../src/core/ids.js';
import { openStore } from '../../src/git/store.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { preparedStore, publishSnapshot, writeSnapshot } from './fixture.js';

const instance = 't' as InstanceName;
const one = 1 as Seq;

async function withOne() {
  const area = await preparedStore();
  const first = await publishSnapshot(area.store, 1, { a: 'one' });
  await area.store.checkConnected([first], []);
  return { ...area, first };
}

async function writtenElsewhere(dataDir: string): Promise<ObjectId> {
  const writer = openStore({ dataDir, env: process.env, forbiddenProgramDirectories: () => [] }).newWriter();
  const commit = writeSnapshot(writer, { a: 'two' });
  await writer.publish();
  return commit;
}

const filesIn = (directory: string): string[] => (readdirSync(directory, { recursive: true }) as string[]).sort();

describe('what was started ahead', () => {
  test('publishes a snapshot with one process for reading and one for the refs', async () => {
    const { dataDir, directory, first } = await withOne();
    const calls = join(dataDir, 'calls');
    const { store, end } = watchedStore(dataDir, calls).startAhead();
    expect(await store.snapshot(instance, one)).toMatchObject({ commit: first, seq: 1 });
    const second = await writtenElsewhere(dataDir);
    await store.checkConnected([second], [first]);
    await store.changeRefs([{ name: 'refs/jackin/t/2', old: null, new: second }]);
    await end();
    const commands = readFileSync(calls, 'utf8').match(/cat-file|update-ref|for-each-ref|rev-list/g);
    expect(commands?.sort()).toEqual(['cat-file', 'update-ref']);
    expect(readFileSync(join(directory, 'refs/jackin/t/2'), 'utf8')).toBe(`${second}\n`);
    expect(fsckStrict(dataDir)).toEqual([]);
  });

  test('ends without a trace when it is not used', async () => {
    const { store, dataDir, first } = await withOne();
    const before = filesIn(dataDir);
    await store.startAhead().end();
    const { store: ahead, end } = store.startAhead();
    await ahead.checkConnected([first], []);
    await end();
    expect(filesIn(dataDir)).toEqual(before);
  });

  test('makes one change; those after it are as ever', async () => {
    const { store, directory, first } = await withOne();
    const { store: ahead, end } = store.startAhead();
    await ahead.checkConnected([first], []);
    const taken = [{ name: 'refs/jackin/t/1', old: null, new: first }];
    await expect(ahead.changeRefs(taken)).rejects.toMatchObject({ code: 'REF_EXISTS' });
    await ahead.changeRefs([{ name: 'refs/jackin/t/2', old: null, new: first }]);
    await end();
    expect(existsSync(join(directory, 'refs/jackin/t/2'))).toBe(true);
  });

  test('proves nothing when objects went after its start', async () => {
    const { store, dataDir, directory, first } = await withOne();
    const { store: ahead, end } = store.startAhead();
    await ahead.snapshot(instance, one);
    const second = await writtenElsewhere(dataDir);
    const lost = storeGit(dataDir, ['rev-parse', `${first}:mounts/m/a`]).stdout.trim();
    const [pack = ''] = filesIn(join(directory, 'objects/pack')).filter(
      (name) => name.endsWith('.idx') && holds(dataDir, name, lost),
    );
    for (const suffix of ['idx', 'pack']) rmSync(join(directory, 'objects/pack', pack.replace(/idx$/, suffix)));
    await expect(ahead.checkConnected([first, second], [first])).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    await end();
  });
});

const id = '1'.repeat(40);

test.each<{ what: string; lie: (directory: string, first: string) => void }>([
  { what: 'loose', lie: () => undefined },
  { what: 'packed', lie: (directory) => void storeGit(dirname(directory), ['pack-refs', '--all']) },
  {
    what: 'both packed and loose',
    lie: (directory, first) => {
      writeFileSync(join(directory, 'packed-refs'), `# pack-refs with: peeled \n${id} refs/jackin/t/1\n`);
      expect(readFileSync(join(directory, 'refs/jackin/t/1'), 'utf8')).toBe(`${first}\n`);
    },
  },
  { what: 'of a commit that is missing', lie: written(`${id}\n`) },
  { what: 'of nothing', lie: written(`${'0'.repeat(40)}\n`) },
  { what: 'empty', lie: written('') },
  { what: 'garbage', lie: written('garbage\n') },
  {
    what: 'without its line feed',
    lie: (directory, first) => {
      written(first)(directory);
    },
  },
  {
    what: 'a name for another one',
    lie: (directory, first) => {
      written(`${first}\n`, 'refs/jackin/t/7')(directory);
      written('ref: refs/jackin/t/7\n')(directory);
    },
  },
  {
    what: 'a link',
    lie: (directory) => {
      rmSync(join(directory, 'refs/jackin/t/1'));
      symlinkSync('refs/jackin/t/7', join(directory, 'refs/jackin/t/1'));
    },
  },
  {
    what: 'a directory',
    lie: (directory) => {
      rmSync(join(directory, 'refs/jackin/t/1'));
      mkdirSync(join(directory, 'refs/jackin/t/1'));
    },
  },
  {
    what: 'gone',
    lie: (directory) => {
      rmSync(join(directory, 'refs/jackin/t/1'));
    },
  },
  {
    what: 'of a tree',
    lie: (directory) => {
      const tree = storeGit(dirname(directory), ['rev-parse', 'refs/jackin/t/1^{tree}']).stdout;
      written(tree)(directory);
    },
  },
])('one ref that is $what is read as in the list of all', async ({ lie }) => {
  const { store, directory, first } = await withOne();
  lie(directory, first);
  const listed = (await store.snapshots(instance)).find(({ seq }) => seq === 1);
  expect(await store.snapshot(instance, one)).toEqual(listed);
  const { store: ahead, end } = store.startAhead();
  expect(await ahead.snapshot(instance, one)).toEqual(listed);
  await end();
});

function written(text: string, name = 'refs/jackin/t/1'): (directory: string) => void {
  return (directory) => {
    rmSync(join(directory, name), { force: true });
    writeFileSync(join(directory, name), text);
  };
}

function holds(dataDir: string, index: string, oid: string): boolean {
  const path = join(dataDir, 'store.git/objects/pack', index);
  return lstatSync(path).isFile() && storeGit(dataDir, ['verify-pack', '-v', path]).stdout.includes(oid);
}

/** A store whose git notes what it was called for. */
function watchedStore(dataDir: string, calls: string): ReturnType<typeof openStore> {
  const directory = join(dataDir, 'bin');
  mkdirSync(directory);
  const path = process.env['PATH']!;
  const real = path.split(':').find((entry) => existsSync(join(entry, 'git')))!;
  const script = `#!/bin/sh\necho "$*" >>'${calls}'\nexec '${real}/git' "$@"\n`;
  writeFileSync(join(directory, 'git'), script, { mode: 0o755 });
  return openStore({ dataDir, env: { PATH: `${directory}:${path}` }, forbiddenProgramDirectories: () => [] });
}
