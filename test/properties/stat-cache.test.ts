import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EntryStat } from '../../src/core/entry.js';
import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import { CacheRecorder } from '../../src/fs/stat-cache/cache-recorder.js';
import { readStatCache, writeStatCache } from '../../src/fs/stat-cache/stat-cache.js';
import { usualAttributes } from '../../src/operations/capture/attributes.js';
import { arbitraryName } from '../support/arbitrary-tree.js';
import { testSeed } from '../support/seed.js';
import { tempDir } from '../support/temp.js';

const name = arbitraryName({ withRules: true });
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/') as EntryPath);
const anyPath = fc.oneof(fc.constant('' as EntryPath), path);
const oid = fc.stringMatching(/^[0-9a-f]{40}$/).map((digits) => digits as ObjectId);
const mode = fc.nat({ max: 0o7777 });
const owner = fc.nat({ max: 0xffff_fffe });
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const bigId = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

test('the stat cache knows what it was told, and nothing of a file that changed since', () => {
  const never = { mtimeNs: 0n, ctimeNs: 0n, nlink: 2, size: 0, sparse: false };
  const directory: EntryStat = { kind: 'directory', dev: 7n, ino: 1n, mode: 0o755, uid: 0, gid: 0, ...never };
  const file = join(tempDir(), 'cache');
  const time = fc.bigInt({ min: 0n, max: 1n << 62n });
  const stat: fc.Arbitrary<EntryStat> = fc.record({
    kind: fc.constant('file' as const),
    dev: fc.constant(7n),
    ino: bigId,
    mode,
    uid: owner,
    gid: owner,
    nlink: fc.constant(1),
    size: count,
    mtimeNs: time,
    ctimeNs: time,
    sparse: fc.boolean(),
  });
  const files = fc.uniqueArray(fc.record({ name, stat, oid }), { selector: (known) => known.name });
  const directories = fc.uniqueArray(fc.record({ path: anyPath, files }), { selector: (known) => known.path });
  fc.assert(
    fc.property(directories, (written) => {
      const recorder = new CacheRecorder(7n);
      const sorted = written.map((directory) => ({
        ...directory,
        files: [...directory.files].sort((a, b) => (a.name < b.name ? -1 : 1)),
      }));
      for (const { path, files } of sorted) {
        recorder.enter(path, directory, 'rules');
        recorder.leave(files, undefined, true, undefined);
      }
      writeStatCache(file, recorder, { defaults: usualAttributes([]), attributes: [], leftOut: [], repositories: [] });

      const cache = readStatCache(file, 7n)!;
      for (const directory of sorted) {
        const known = cache.directory(directory.path);
        const changed = cache.directory(directory.path);
        for (const entry of directory.files) {
          expect(known(entry.name, entry.stat)).toBe(entry.oid);
          expect(changed(entry.name, { ...entry.stat, ctimeNs: entry.stat.ctimeNs + 1n })).toBeUndefined();
        }
      }
      expect(readStatCache(file, 8n)).toBeUndefined();
    }),
    { seed: testSeed(), numRuns: 200 },
  );
});
