import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { StoredFile } from '../../../src/core/entry.js';
import type { EntryPath, HostPath } from '../../../src/core/entry-path.js';
import { openMount } from '../../../src/fs/held-directory.js';
import { hasher } from '../../../src/git/pack/hasher.js';
import { isInState } from '../../../src/operations/restore/entry-state.js';
import { tempDir } from '../../support/temp.js';

test.each([
  { what: 'long after', laterNs: 60_000_000_000n, isBelieved: true },
  { what: 'in the very moment', laterNs: 0n, isBelieved: false },
])('a stat that was taken $what its time is believed without a look: $isBelieved', async ({ laterNs, isBelieved }) => {
  const folder = tempDir();
  writeFileSync(join(folder, 'a'), 'edited');
  utimesSync(join(folder, 'a'), 1_700_000_000.123, 1_700_000_000.123);
  const root = openMount(folder as HostPath);
  const stat = root.stat('a')!;
  const state: StoredFile = {
    kind: 'file',
    path: 'a' as EntryPath,
    oid: hasher.writeBlob(Buffer.from('before')),
    size: 6,
    mode: stat.mode,
    uid: stat.uid,
    gid: stat.gid,
    sparse: false,
  };
  expect(await isInState(root, 'a', state, hasher)).toBe(false);
  const remembered = { stat, momentNs: stat.ctimeNs + laterNs };
  expect(await isInState(root, 'a', state, hasher, remembered)).toBe(isBelieved);
  root.close();
});
