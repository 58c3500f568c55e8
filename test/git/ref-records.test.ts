import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { InstanceName } from '../../src/core/ids.js';
import { encodeCommit } from '../../src/core/snapshot-record.js';
import { RefRecords } from '../../src/git/ref-records.js';
import { storeGit } from '../support/store-git.js';
import { preparedStore, publishSnapshot } from './fixture.js';

const instance = 't' as InstanceName;

const tree = 'a'.repeat(40);

/** As `for-each-ref` says it. */
function said(name: string, type: string, content: string): string {
  return `${name}\0${'1'.repeat(40)}\0${type}\0${content.length}\0${content}\n`;
}

const output = [
  said('refs/a', 'commit', `tree ${tree}\nauthor x\n\nmessage\nrefs/z\0\0\0 9\0`),
  said('refs/b', 'tag', `tree ${tree}\n\nno commit`),
  said('refs/c', 'commit', ''),
  said('refs/d', 'commit', `tree ${tree}\n\n\xff\n`),
].join('');

const records = [
  ['refs/a', '1'.repeat(40), tree, 'message\nrefs/z\0\0\0 9\0'],
  ['refs/b', '1'.repeat(40), '', ''],
  ['refs/c', '1'.repeat(40), '', ''],
  ['refs/d', '1'.repeat(40), tree, '\xff\n'],
];

test.each([1, 2, 3, 7, 50, 1000])('are the same in pieces of %s bytes', (size) => {
  const found = new RefRecords();
  for (let at = 0; at < output.length; at += size) found.push(Buffer.from(output.slice(at, at + size), 'latin1'));
  expect(found.end()).toEqual(records);
});

test('that end early are no records', () => {
  for (const cut of [1, 10, 60, output.length - 1]) {
    const found = new RefRecords();
    found.push(Buffer.from(output.slice(0, cut), 'latin1'));
    expect(() => found.end()).toThrow('ended early');
    expect(found.all).toEqual(records.slice(0, found.all.length));
  }
});

test('reads only the newest where no more are wanted, packed or not, the damaged ones too', async () => {
  const { store, dataDir, directory } = await preparedStore();
  for (const seq of [1, 2, 9, 10]) await publishSnapshot(store, seq, { a: `${seq}` });
  const numbers = async (newest: number): Promise<number[]> =>
    (await store.snapshots(instance, newest)).map(({ seq }) => seq);
  expect(await numbers(1)).toEqual([10]);
  expect(await numbers(3)).toEqual([2, 9, 10]);
  storeGit(dataDir, ['pack-refs', '--all']);
  mkdirSync(join(directory, 'refs/jackin/t'), { recursive: true });
  writeFileSync(join(directory, 'refs/jackin/t/11'), 'garbage');
  expect(await numbers(3)).toEqual([9, 10, 11]);
  for (const many of [5, 6, 1000, Infinity]) expect(await numbers(many)).toEqual([1, 2, 9, 10, 11]);
  const [ninth] = await store.snapshots(instance, 3);
  expect(ninth).toEqual((await store.snapshots(instance))[2]);
});

test('reads many, however git cuts them into pieces', async () => {
  const { store } = await preparedStore();
  const writer = store.newWriter();
  const tree = writer.writeTree([]);
  const messages = Array.from({ length: 300 }, (_, index) =>
    `${'ä\n\0'.repeat(index)}\n\n${index}`.replaceAll('\0', ''),
  );
  const commits = messages.map((message) =>
    writer.writeCommit(encodeCommit({ tree, parent: null, createdAt: new Date(0), message })),
  );
  await writer.publish();
  await store.changeRefs(
    commits.map((commit, index) => ({ name: `refs/jackin/t/${index + 1}`, old: null, new: commit })),
  );
  const found = await store.snapshots(instance);
  expect(found.map(({ message }) => message)).toEqual(messages);
  expect(new Set(found.map((ref) => ref.tree))).toEqual(new Set([tree]));
});
