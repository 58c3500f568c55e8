import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap, runSnapJson } from '../support/cli.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

test('a snapshot of a newer format stays as it is, and joined to the one before, when others go', async () => {
  const area = tempDir();
  const mount = join(area, 'mount');
  const options = { cwd: mount, dataDir: join(area, 'data') };
  mkdirSync(mount);
  for (const content of ['1', '2']) {
    writeFileSync(join(mount, 'a'), content);
    expect((await runSnap(['-i', 'demo', 'save'], options)).code).toBe(0);
  }
  const newer = addNewerSnapshot(options.dataDir);
  writeFileSync(join(mount, 'a'), '4');
  expect((await runSnap(['-i', 'demo', 'save'], options)).code).toBe(0);

  const { code, stderr } = await runSnap(['-i', 'demo', 'delete', '2', '--yes'], options);

  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(git(options.dataDir, ['rev-parse', 'refs/jackin/demo/3'])).toBe(newer);
  expect(git(options.dataDir, ['log', '--format=%s', 'refs/jackin/demo/4']).split('\n')).toEqual([
    'manual snapshot 4 of demo',
    'from the future',
    'manual snapshot 1 of demo',
  ]);
  expect(fsckStrict(options.dataDir)).toEqual([]);
  const { document } = await runSnapJson(['-i', 'demo', 'list'], options);
  expect(document.data.snapshots.map(({ seq }: { seq: number }) => seq)).toEqual([4, 3, 1]);
});

/** What a version of later would have made: only the format is known to be where it is. */
function addNewerSnapshot(dataDir: string): string {
  const tree = git(dataDir, ['rev-parse', 'refs/jackin/demo/2^{tree}']);
  const who = 'jackin-snap <jackin-snap@localhost> 1772366400 +0000';
  const commit = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nfrom the future\n\nJackin-Format: 2\n`;
  const stored = storeGit(dataDir, ['hash-object', '-w', '-t', 'commit', '--stdin'], { stdin: commit });
  const newer = stored.stdout.trim();
  const before = git(dataDir, ['rev-parse', 'refs/jackin/demo/2']);
  const graft = storeGit(dataDir, ['hash-object', '-w', '-t', 'commit', '--stdin'], {
    stdin: commit.replace('\nauthor', `\nparent ${before}\nauthor`),
  });
  git(dataDir, ['update-ref', 'refs/jackin/demo/3', newer]);
  git(dataDir, ['update-ref', `refs/replace/${newer}`, graft.stdout.trim()]);
  return newer;
}

function git(dataDir: string, args: readonly string[]): string {
  return storeGit(dataDir, args).stdout.trim();
}
