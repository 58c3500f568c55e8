import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseRemote } from '../../src/core/remote/address.js';
import type { PushProgress } from '../../src/core/remote/report.js';
import type { HostPath } from '../../src/core/entry-path.js';
import type { Remote } from '../../src/core/remote/remotes.js';
import { GitRemotes } from '../../src/git/remote/git-remotes.js';
import { tempDir } from '../support/temp.js';
import { userGit } from '../support/user-git.js';
import { preparedStore, writeSnapshot } from './fixture.js';

test('a push tells how far it is, and what went wrong all the same', async () => {
  const { dataDir, store } = await preparedStore();
  const writer = store.newWriter();
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${String(at)}`, `${String(at)}\n`]));
  const oid = writeSnapshot(writer, files);
  await writer.publish();
  const path = join(tempDir('remote'), 'r.git');
  userGit('/', ['init', '--quiet', '--bare', path]);
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  const remotes = new GitRemotes({ dataDir, env, signal: undefined, forbiddenDirectories: () => [] });
  const address = parseRemote(path);
  const directory = path as HostPath;
  const remote: Remote = { address, directory, credentialHelper: null, mayAsk: false, readsHome: true };
  const seen: PushProgress[] = [];
  const ref = { name: 'refs/jackin/t/1', oid };
  const { refs, failure } = await remotes.push(remote, [ref], (progress) => seen.push(progress));
  expect([failure, refs.get(ref.name)?.outcome]).toEqual([null, 'created']);
  const total = seen.at(-1)?.totalObjects ?? 0;
  expect(total).toBeGreaterThan(300);
  expect(seen.at(-1)).toMatchObject({ objects: total, totalObjects: total });
  expect(seen.at(-1)?.bytes).toBeGreaterThan(0);
  rmSync(join(path, 'HEAD'));
  const broken = await remotes.push(remote, [{ ...ref, name: 'refs/jackin/t/2' }], () => undefined);
  expect(broken.failure).toMatchObject({
    code: 'REMOTE_FAILED',
    data: { said: expect.stringContaining('fatal') as string },
  });
});
