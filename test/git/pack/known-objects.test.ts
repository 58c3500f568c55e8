import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { KnownObjects } from '../../../src/git/pack/known-objects.js';
import { storeGit } from '../../support/store-git.js';
import { preparedStore } from '../fixture.js';

test('objects are found in packs of any number, by few questions and by many', async () => {
  const { store, dataDir, directory } = await preparedStore();
  const ids = [];
  for (let pack = 0; pack < 12; pack++) {
    const writer = store.newWriter();
    for (let blob = 0; blob < 20; blob++) ids.push(writer.writeBlob(Buffer.from(`${pack} ${blob}`)));
    await writer.publish();
  }
  writeFileSync(join(dataDir, 'loose'), 'loose');
  ids.push(storeGit(dataDir, ['hash-object', '-w', join(dataDir, 'loose')]).stdout.trim());
  const known = new KnownObjects(join(directory, 'objects'));
  const absent = Array.from({ length: 300 }, (_, index) => createHash('sha1').update(`${index}`).digest());
  for (let round = 0; round < 3; round++) {
    expect(ids.filter((id) => !known.has(Buffer.from(id, 'hex')))).toEqual([]);
    expect(absent.filter((id) => known.has(id))).toEqual([]);
  }
  expect(new KnownObjects(join(directory, 'nowhere')).has(absent[0]!)).toBe(false);
});
