import { type EntryPath, parseEntryPath } from '../../src/core/entry-path.js';
import type { CheckResult } from '../../src/core/results.js';
import { evilName, mount, pointer } from './fake-names.js';

/** What `verify` says of a store that lost something. */
export const ruined: CheckResult = {
  ok: false,
  snapshotsChecked: 3,
  damaged: [
    {
      snapshot: pointer(2),
      problem: 'objects are damaged',
      paths: [
        { mount, path: `src/${evilName}` as EntryPath, kind: 'file' },
        { mount, path: parseEntryPath('src'), kind: 'directory' },
        { mount: null, path: parseEntryPath('meta/manifest.json'), kind: 'file' },
      ],
      pathsTotal: 1237,
    },
    {
      snapshot: pointer(3),
      problem: 'its commit is damaged',
      paths: [{ mount: null, path: '' as EntryPath, kind: 'directory' }],
      pathsTotal: 1,
    },
  ],
  problems: ['fsck: bad pack'],
  content: { objectsChecked: 1000, objectsTotal: 12_345 },
};
