import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { addSubmodule, cloneRepository, createHistory, stageChanges, userGit } from '../support/user-git.js';
import { bareRepository, onPath, refsIn } from './remote-scene.js';
import { Scene } from './scene.js';

// Snapshots with protected commits, from a remote that may have lost some of what they hold.

let from: Scene;
let remote: string;
let to: Scene;
const folder = 'meta/mounts/m/git';

beforeEach(async () => {
  from = new Scene();
  rmSync(from.mount, { recursive: true });
  const origin = join(from.area, 'origin');
  createHistory(origin);
  cloneRepository(origin, from.mount);
  const git = (...args: string[]): void => void userGit(from.mount, args);
  const commit = (files: Record<string, string>, message: string): void => {
    from.write(files);
    git('add', '--all', '--force');
    git('commit', '--quiet', '-m', message);
  };
  commit({ 'work.txt': 'w\n', 'deep/er/file': 'd\n' }, 'unpushed');
  commit({ '.env': 'TOKEN=1\n', 'plain/p': 'p\n', 'attr/.gitattributes': '* text\n', 'attr/beside': 'b\n' }, 'secret');
  addSubmodule(from.mount, origin, 'sub');
  git('tag', '-a', '-m', 'a tag', 'v1');
  git('branch', 'topic');
  from.write({ 'stashed.txt': 's\n' });
  git('stash', 'push', '--quiet', '-u', '-m', 'mine');
  stageChanges(from.mount);
  from.write({ intended: 'i\n' });
  git('add', '--intent-to-add', 'intended');
  git('update-index', '--assume-unchanged', 'deep/er/file', 'attr/beside');
  const conflict = ['1', '2', '3'].map((stage) => `100644 ${blob(`side ${stage}\n`)} ${stage}\tboth\n`);
  userGit(from.mount, ['update-index', '--index-info'], { stdin: conflict.join('') });
  const saved = await from.save(['--protect-commits']);
  expect(saved.data.mounts[0].protected).toMatchObject({ stashes: 1, staged: true, problems: [] });
  await from.save(['--protect-commits', '-m', 'unchanged']);
  remote = bareRepository(join(from.area, 'remote.git'));
  await from.run(['push', remote]);
  to = new Scene();
});

function blob(content: string): string {
  return userGit(from.mount, ['hash-object', '-w', '--stdin'], { stdin: content }).stdout.trim();
}

type Git = (args: string[], stdin?: string) => string;

/** The first snapshot under another number, with an edit of its list of files. */
function rebuilt(edit: (git: Git, paths: readonly string[]) => unknown, seq = 9): void {
  const env = { GIT_INDEX_FILE: join(remote, 'edited') };
  const git = (args: string[], stdin = ''): string => userGit(remote, args, { env, stdin }).stdout.trim();
  const put = (path: string, content: string): void => {
    git(['update-index', '--add', '--cacheinfo', `100644,${git(['hash-object', '-w', '--stdin'], content)},${path}`]);
  };
  git(['read-tree', 'refs/jackin/t/1']);
  const manifest = userGit(remote, ['cat-file', 'blob', 'refs/jackin/t/1:meta/manifest.json']).stdout;
  put('meta/manifest.json', manifest.replace('"seq": 1', `"seq": ${seq}`));
  edit(git, git(['ls-files']).split('\n'));
  const tree = git(['write-tree', '--missing-ok']);
  const text = userGit(remote, ['cat-file', 'commit', 'refs/jackin/t/1']).stdout;
  const commit = text.replace(/^tree .*/, `tree ${tree}`).replace('Jackin-Seq: 1', `Jackin-Seq: ${seq}`);
  git(['update-ref', `refs/jackin/t/${seq}`, git(['hash-object', '-t', 'commit', '-w', '--stdin'], commit)]);
}

/** For `update-index --index-info`. */
const withoutFile = (path: string): string => `0 ${'0'.repeat(40)}\t${path}\n`;

interface State {
  readonly index: {
    readonly tree: string;
    readonly entries: readonly { readonly path: string; readonly object: string }[];
  };
  readonly tags: readonly { readonly object: string }[];
  readonly stashes: readonly { readonly commit: string }[];
  readonly missing: readonly { readonly object: string; readonly reason: string }[];
}

const stateNow = (): State =>
  JSON.parse(userGit(remote, ['cat-file', 'blob', `refs/jackin/t/1:${folder}/state.json`]).stdout) as State;

/** Fetches all, and expects these to be refused, in the order of their numbers from 9 on. */
async function expectRefused(
  reason: string,
  details: readonly (readonly [what: string, detail: string])[],
): Promise<void> {
  const { data } = await to.json(['fetch', '--all', remote], { code: 4, instance: null });
  const refused = data.refused as { seq: number; reason: string; detail: string }[];
  for (const [at, [what, detail]] of details.entries())
    expect([what, refused[at]]).toMatchObject([
      what,
      { seq: 9 + at, reason, detail: expect.stringContaining(detail) as string },
    ]);
  expect(data.fetched).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  expect(refused).toHaveLength(details.length);
  expect(refsIn(to)).toEqual(refsIn(from));
}

const at = (kind: string, oid: string): string => `${folder}/${kind}/${oid.slice(0, 2)}/${oid.slice(2)}`;
/** Where an object is kept, by its name in the repository. */
const kept = (kind: string, name: string): string => at(kind, userGit(from.mount, ['rev-parse', name]).stdout.trim());

test('protected commits that are all there are taken, and come back', async () => {
  rebuilt(() => undefined);
  const { data } = await to.json(['fetch', '--all', remote], { instance: null });
  expect(data).toMatchObject({ refused: [], fetched: [{ seq: 1 }, { seq: 2 }, { seq: 9 }] });
  const out = join(to.area, 'out');
  const restored = await to.json(['restore', '9', '--git-state', '--to', out, '--yes'], { code: [0, 6] });
  expect(restored.document.error).toBeUndefined();
});

test('a snapshot that lacks something of its git state is refused, and named', async () => {
  const state = stateNow();
  expect(state.missing).toMatchObject([{ reason: 'secret' }]);
  const gone = [
    ['the commit at HEAD', 'commit', kept('commits', 'main')],
    ["a stash's parent", 'commit', kept('commits', 'stash^2')],
    ['the untracked files of a stash', 'commit', kept('commits', 'stash^3')],
    ['a tag', 'tag', at('tags', state.tags[0]!.object)],
    ['the tree of a commit', 'tree', `${kept('trees', 'main~2^{tree}')}/`],
    ['a raw tree', 'tree', kept('raw-trees', 'main^{tree}')],
    ['a tree below a raw one', 'tree', `${kept('trees', 'main:plain')}/`],
    ['a raw tree below a raw one', 'tree', kept('raw-trees', 'main:attr')],
    ['a file of a raw tree', 'file', kept('blobs', 'main:work.txt')],
    ['what is staged', 'tree', at('raw-trees', state.index.tree)],
    ['a side of a conflict', 'file', at('blobs', state.index.entries.find(({ path }) => path === 'both')!.object)],
    ['a stash', '2 of', ['stash', 'stash^2', 'stash^3'].map((name) => kept('commits', name))],
  ] as const;
  for (const [row, [what, , path]] of gone.entries())
    rebuilt((git, paths) => {
      const all = [path].flat();
      const names = paths.filter((name) =>
        all.some((one) => name === one || (one.endsWith('/') && name.startsWith(one))),
      );
      expect(names.length, what).toBeGreaterThan(0);
      git(['update-index', '--index-info'], names.map(withoutFile).join(''));
    }, 9 + row);
  rebuilt((git) => {
    const content = JSON.stringify({ ...state, missing: [], missing_total: 0 });
    const oid = git(['hash-object', '-w', '--stdin'], content);
    git(['update-index', '--cacheinfo', `100644,${oid},${folder}/state.json`]);
  }, 9 + gone.length);
  await expectRefused('incomplete', [
    ...gone.map(([what, kind]) => [what, `of the protected commits of mount m, ${kind} `] as const),
    ['a file that it does not say is missing', 'file'],
  ]);
});

test('a git state that is not laid out as a snapshot has it is none', async () => {
  const odd = [
    ['an object under the id of another', kept('commits', 'stash'), 'is another object'],
    ['a file under the id of another', at('blobs', '1'.repeat(40)), 'there is "blobs/11'],
    ['something beside', `${folder}/hooks`, 'there is "hooks"'],
    ['a file where trees are', at('trees', '1'.repeat(40)), 'there is "trees/11'],
  ] as const;
  for (const [row, [, path]] of odd.entries())
    rebuilt((git) => {
      const file = git(['rev-parse', 'refs/jackin/t/1:mounts/m/work.txt']);
      git(['update-index', '--add', '--cacheinfo', `100644,${file},${path}`]);
    }, 9 + row);
  rebuilt((git) => git(['update-index', '--index-info'], withoutFile(`${folder}/state.json`)), 9 + odd.length);
  await expectRefused('no_snapshot', [
    ...odd.map(([what, , detail]) => [what, detail] as const),
    ['no state', 'state.json'],
  ]);
});

test('all that came is read by as many processes, however many snapshots it is', async () => {
  const reads = async (snapshots: number): Promise<number> => {
    const place = new Scene();
    const log = join(place.area, 'log');
    const git = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh\ncase "$*" in *cat-file*|*ls-tree*) echo >>'${log}';; esac\nexec '${git}' "$@"\n`;
    const PATH = onPath(join(place.area, 'bin'), 'git', script);
    for (let more = 0; more < snapshots; more += 1) rebuilt(() => undefined, 10 + more);
    await place.run(['fetch', '--all', remote], { instance: null, env: { PATH } });
    expect(await place.numbers()).toHaveLength(2 + snapshots);
    return readFileSync(log, 'utf8').split('\n').length - 1;
  };
  const few = await reads(0);
  expect(await reads(6)).toBe(few);
});
