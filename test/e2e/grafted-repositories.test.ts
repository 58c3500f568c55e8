import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { SaveResult } from '../../src/index.js';
import { createSnap } from '../../src/index.js';
import { storeGit } from '../support/store-git.js';
import { removeTree } from '../support/remove-tree.js';
import { makeTempDir } from '../support/temp.js';
import { userGit } from '../support/user-git.js';

// What a save takes over unread depends on rules and on repositories, which change without any change of the files that
// they decide about. After each of these steps a save must store and tell the same as one that reads everything.

const area = makeTempDir('grafts');
const mount = join(area, 'mount');
const outer = join(mount, 'projects/outer');
const inner = join(outer, 'vendor/inner');

const steps: readonly { readonly what: string; readonly act: () => unknown }[] = [
  { what: 'nothing', act: () => undefined },
  { what: 'a tracked file is edited', act: () => writeFileSync(join(outer, 'src/a'), 'edited') },
  { what: 'it is staged', act: () => userGit(outer, ['add', 'src/a']) },
  { what: 'it is committed', act: () => userGit(outer, ['commit', '-qm', 'edit']) },
  { what: 'a branch is made', act: () => userGit(inner, ['switch', '-qc', 'other']) },
  { what: 'an ignored file is tracked by force', act: () => userGit(outer, ['add', '-f', 'build/out']) },
  { what: 'and is not any more', act: () => userGit(outer, ['rm', '-q', '--cached', 'build/out']) },
  { what: 'ignore rules are added', act: () => appendFileSync(join(outer, '.gitignore'), 'src/b\n') },
  { what: 'in a folder above', act: () => writeFileSync(join(mount, '.gitignore'), '*.log\n') },
  { what: 'and taken away', act: () => rmSync(join(mount, '.gitignore')) },
  { what: 'in info/exclude', act: () => appendFileSync(join(inner, '.git/info/exclude'), 'deep/\n') },
  { what: 'an untracked file appears deep down', act: () => writeFileSync(join(inner, 'deep/er/new'), 'new') },
  { what: 'the index goes', act: () => rmSync(join(inner, '.git/index')) },
  { what: 'a stack is detected', act: () => writeFileSync(join(mount, 'plain/package.json'), '{}') },
  { what: 'and gone', act: () => rmSync(join(mount, 'plain/package.json')) },
  { what: 'a repository is made around files', act: () => userGit(join(mount, 'plain'), ['init', '-q']) },
  { what: 'a repository is taken away', act: () => rmSync(join(inner, '.git'), { recursive: true }) },
  { what: 'a mode changes', act: () => chmodSync(join(mount, 'plain/sub/x'), 0o600) },
  { what: 'a folder goes', act: () => rmSync(join(mount, 'plain/sub'), { recursive: true }) },
  { what: 'and is a link', act: () => symlinkSync('.', join(mount, 'plain/sub')) },
  { what: 'everything goes', act: () => rmSync(join(mount, 'projects'), { recursive: true }) },
];

function build(): void {
  for (const folder of [join(outer, 'src'), join(outer, 'build'), join(inner, 'deep/er'), join(mount, 'plain/sub')])
    mkdirSync(folder, { recursive: true });
  mkdirSync(join(mount, 'plain/node_modules/m'), { recursive: true });
  for (const [path, text] of [
    [join(outer, '.gitignore'), 'build/\nvendor/\n'],
    [join(outer, 'src/a'), 'a'],
    [join(outer, 'src/b'), 'b'],
    [join(outer, 'build/out'), 'out'],
    [join(inner, 'deep/er/f'), 'f'],
    [join(inner, 'top'), 'top'],
    [join(mount, 'plain/sub/x'), 'x'],
    [join(mount, 'plain/sub/x.log'), 'x'],
    [join(mount, 'plain/node_modules/m/index.js'), 'm'],
  ] as const)
    writeFileSync(path, text);
  for (const repository of [inner, outer]) {
    userGit(repository, ['init', '-q', '-b', 'main']);
    userGit(repository, ['add', '.']);
    userGit(repository, ['commit', '-qm', 'first']);
  }
}

const dataDir = join(area, 'data');
const { PATH, HOME } = process.env;
const snap = createSnap({ dataDir, instance: 'grafts', cwd: mount, env: { PATH, HOME, LC_ALL: 'C', TZ: 'UTC' } });

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));

afterAll(() => {
  removeTree(area);
});

test('after whatever changed, a save takes over nothing that a save of everything would store otherwise', async () => {
  build();
  await snap.save();
  for (const { what, act } of steps) {
    act();
    // Fresh times prove nothing: the first save after them reads, the second takes over.
    await expectAsInFull(what);
    await settle();
    await expectAsInFull(what);
    await expectAsInFull(what);
  }
});

async function expectAsInFull(what: string): Promise<void> {
  const first = await snap.save();
  const full = await snap.save({ full: true });
  expect(told(first), what).toEqual(told(full));
  expect(contentIds(first), what).toBe(contentIds(full));
}

function told({ mounts, observedOnly, complete, stats }: SaveResult): unknown {
  const { filesObserved, filesStored, bytesStored } = stats;
  return { mounts, observedOnly, complete, filesObserved, filesStored, bytesStored };
}

function contentIds({ snapshot: { commit } }: SaveResult): string {
  return storeGit(dataDir, ['rev-parse', `${commit}:mounts`, `${commit}:meta/mounts`]).stdout;
}
