import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as isomorphic from 'isomorphic-git';
import * as fs from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import { openMount } from '../../src/fs/held-directory.js';
import type { HostPath } from '../../src/core/entry-path.js';
import type { PresentFile } from '../../src/git/user-repo/dirty.js';
import { isDirty } from '../../src/git/user-repo/dirty.js';
import type { UserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { readUserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { readRepository } from '../../src/git/user-repo/repositories.js';
import { runProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

function history(options?: user.RepositoryOptions): string {
  const path = join(tempDir(), 'repository');
  user.createHistory(path, options);
  return path;
}

async function readDirectory(path: string): Promise<UserRepo> {
  const repo = await readUserRepo(path, 'directory');
  if (repo === null) throw new Error('no repository');
  return repo;
}

const commitAt = (path: string, name = 'HEAD'): string => user.userGitText(path, ['rev-parse', name]);

describe('HEAD, branch and tree', () => {
  test('of a clone, with its upstream', async () => {
    const from = history();
    const path = join(tempDir(), 'clone');
    user.cloneRepository(from, path);
    const repo = await readDirectory(path);
    expect(repo.state).toEqual({
      head: commitAt(path),
      branch: 'main',
      upstream: 'origin/main',
      dirty: null,
      operation: null,
      unknown: [],
    });
    expect(repo.headTree).toBe(commitAt(path, 'HEAD^{tree}'));
    expect(repo.kind).toBe('clone');
    expect(repo.state.head).toBe(await isomorphic.resolveRef({ fs, dir: path, ref: 'HEAD' }));
    expect(repo.state.branch).toBe(await isomorphic.currentBranch({ fs, dir: path }));
  });

  test('of packed refs and packed objects', async () => {
    const path = history();
    user.packRefs(path);
    user.packObjects(path);
    const repo = await readDirectory(path);
    expect([repo.state.head, repo.headTree, repo.state.unknown]).toEqual([
      commitAt(path),
      commitAt(path, 'HEAD^{tree}'),
      [],
    ]);
  });

  test('of a commit that is a delta, by offset and by name', async () => {
    const path = history();
    const text = Array.from({ length: 400 }, (_, line) => `line ${line} of a long message`).join('\n');
    for (let step = 0; step < 12; step += 1)
      user.userGit(path, ['commit', '--quiet', '--allow-empty', '-m', `${text}\n${step}`]);
    for (const byOffset of ['true', 'false']) {
      user.userGit(path, [
        '-c',
        `repack.useDeltaBaseOffset=${byOffset}`,
        'repack',
        '--quiet',
        '-a',
        '-d',
        '-f',
        '--depth=50',
      ]);
      const pack = fs.readdirSync(join(path, '.git/objects/pack')).find((name) => name.endsWith('.idx')) ?? '';
      const chains = user
        .userGitText(path, ['verify-pack', '-v', join(path, '.git/objects/pack', pack)])
        .match(/^\w+ commit \d+ \d+ \d+ \d+ \w+/gm);
      expect(chains?.length ?? 0).toBeGreaterThan(5);
      for (let back = 0; back < 12; back += 1) {
        user.userGit(path, ['update-ref', '--no-deref', 'HEAD', `main~${back}`]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
        user.userGit(path, ['update-ref', 'refs/heads/probe', `main~${back}`]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/probe']);
        const repo = await readDirectory(path);
        expect([repo.headTree, repo.state.unknown]).toEqual([commitAt(path, 'probe^{tree}'), []]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
      }
    }
  });

  test('of a detached HEAD and of an unborn branch', async () => {
    const path = history();
    user.detachHead(path);
    expect((await readDirectory(path)).state).toMatchObject({ head: commitAt(path), branch: null, unknown: [] });
    user.makeUnborn(path);
    expect((await readDirectory(path)).state).toMatchObject({ head: null, branch: 'unborn', unknown: [] });
  });

  test('of a linked worktree and a submodule, whose .git is a file', async () => {
    const path = history();
    const linked = join(tempDir(), 'linked');
    user.addWorktree(path, linked, 'side/branch');
    user.addSubmodule(path, history(), 'sub');
    writeFileSync(join(path, '.git/info/exclude'), 'from-common\n');
    const worktree = await readUserRepo(linked, 'file');
    expect(worktree?.state).toMatchObject({ head: commitAt(linked), branch: 'side/branch', unknown: [] });
    expect(worktree?.headTree).toBe(commitAt(linked, 'HEAD^{tree}'));
    expect(worktree?.excludeFile).toBe('from-common\n');
    expect(worktree?.kind).toBe('worktree');
    const submodule = await readUserRepo(join(path, 'sub'), 'file');
    expect(submodule?.state).toMatchObject({
      head: commitAt(join(path, 'sub')),
      branch: 'main',
      upstream: 'origin/main',
      unknown: [],
    });
    expect(submodule?.index?.has('shared.txt')).toBe(true);
  });

  test('through a held directory, after its path is gone', async () => {
    const path = history();
    const mount = openMount(path as HostPath);
    renameSync(path, `${path}-moved`);
    const repo = await readRepository(mount, 'directory');
    mount.close();
    expect(repo?.state.branch).toBe('main');
    expect(repo?.tracked?.has('src/main.c')).toBe(true);
  });

  test.each([
    ['merge', user.startMerge],
    ['rebase', user.startRebase],
    ['cherry-pick', user.startCherryPick],
    ['revert', user.startRevert],
    ['bisect', user.startBisect],
  ] as const)('during a %s', async (operation, start) => {
    const path = history();
    start(path);
    const { state, index } = await readDirectory(path);
    expect(state).toMatchObject({ operation, head: commitAt(path), unknown: [] });
    expect(index?.has('shared.txt')).toBe(true);
  });

  test('while patches are applied', async () => {
    const path = history();
    const patch = user.userGit(path, ['format-patch', '--stdout', 'other~1..other']).stdout;
    user.userGit(path, ['am', '--quiet'], { stdin: patch, mayFail: true });
    expect((await readDirectory(path)).state.operation).toBe('am');
  });

  test('with an upstream that is a local branch, and a name that needs quoting', async () => {
    const path = history();
    const branch = 'we"ird\u00e4;#b';
    user.userGit(path, ['switch', '--quiet', '-c', branch, '--track', 'main']);
    expect((await readDirectory(path)).state).toMatchObject({ branch, upstream: 'main', unknown: [] });
  });
});

describe('what is read as data only', () => {
  test('info/exclude comes as bytes', async () => {
    const path = history();
    writeFileSync(join(path, '.git/info/exclude'), Buffer.from([0x2f, 0xe9, 0x0a]));
    expect(await readDirectory(path)).toMatchObject({ excludeFile: '/\xe9\n', excludeUnreadable: false });
    rmSync(join(path, '.git/info'), { recursive: true });
    expect(await readDirectory(path)).toMatchObject({ excludeFile: null, excludeUnreadable: false });
  });

  test('includes are not followed', async () => {
    const path = history();
    writeFileSync(join(path, 'other-config'), '[branch "main"]\n\tremote = evil\n\tmerge = refs/heads/evil\n');
    user.userGit(path, ['config', 'include.path', '../other-config']);
    expect((await readDirectory(path)).state).toMatchObject({ upstream: null, unknown: [] });
  });

  test('fileMode is known', async () => {
    const path = history();
    expect((await readDirectory(path)).fileMode).toBe(true);
    user.userGit(path, ['config', 'core.fileMode', 'false']);
    expect((await readDirectory(path)).fileMode).toBe(false);
  });
});

describe('forms that are not read', () => {
  test('sha256', async () => {
    const path = history({ objectFormat: 'sha256' });
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, branch: null, unknown: ['object format "sha256"'] });
    expect(repo.index).toBeNull();
  });

  test('reftable', async () => {
    const path = history();
    user.userGit(path, ['config', 'core.repositoryFormatVersion', '1']);
    user.userGit(path, ['config', 'extensions.refStorage', 'reftable']);
    writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, branch: null, unknown: ['ref storage "reftable"'] });
    expect(repo.index?.has('src/main.c')).toBe(true);
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });

  test.each([
    ['a split index', user.useSplitIndex],
    ['a sparse index', user.useSparseIndex],
  ] as const)('%s', async (words, convert) => {
    const path = history();
    convert(path);
    const repo = await readDirectory(path);
    expect(repo.index).toBeNull();
    expect(repo.state).toMatchObject({ branch: 'main', unknown: [words] });
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });
});

describe('what was planted', () => {
  test.each([
    { what: 'a pipe', plant: (path: string) => mkfifo(path), words: 'HEAD is not a regular file' },
    {
      what: 'a link',
      plant: (path: string) => symlinkSync('/etc/hostname', path),
      words: 'HEAD is not a regular file',
    },
    { what: 'a directory', plant: (path: string) => mkdirSync(path), words: 'HEAD is not a regular file' },
    {
      what: 'garbage',
      plant: (path: string) => writeFileSync(path, Buffer.alloc(5000, 0xfe)),
      words: 'HEAD is malformed',
    },
    {
      what: 'a huge file',
      plant: (path: string) => writeFileSync(path, Buffer.alloc(70_000)),
      words: 'HEAD is larger than 65536 bytes',
    },
    {
      what: 'a way out',
      plant: (path: string) => writeFileSync(path, 'ref: ../../../etc/passwd\n'),
      words: 'HEAD names no ref',
    },
    {
      what: 'a ref out of sight',
      plant: (path: string) => writeFileSync(path, 'ref: refs/../../x\n'),
      words: 'HEAD names no ref',
    },
    {
      what: 'a circle',
      plant: (path: string) => writeFileSync(path, 'ref: refs/heads/loop\n'),
      words: 'a symbolic ref leads too far',
    },
    { what: 'nothing', plant: () => undefined, words: 'HEAD is missing' },
  ])('$what as HEAD', async ({ plant, words }) => {
    const path = history();
    writeFileSync(join(path, '.git/refs/heads/loop'), 'ref: refs/heads/loop\n');
    rmSync(join(path, '.git/HEAD'));
    plant(join(path, '.git/HEAD'));
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, unknown: [words] });
    expect(repo.index?.has('src/main.c')).toBe(true);
  });

  test.each(['config', 'index', 'info/exclude', 'packed-refs', 'refs/heads/main'])('a pipe as %s', async (name) => {
    const path = history();
    rmSync(join(path, '.git', name), { force: true });
    mkfifo(join(path, '.git', name));
    if (name === 'packed-refs') rmSync(join(path, '.git/refs/heads/main'));
    const { state } = await readDirectory(path);
    expect(state.unknown).toEqual([`${name.replace(/.*\//, '')} is not a regular file`]);
  });

  test('a linked directory on the way is not entered', async () => {
    const path = history();
    renameSync(join(path, '.git/refs'), join(path, 'elsewhere'));
    symlinkSync('../elsewhere', join(path, '.git/refs'));
    expect((await readDirectory(path)).state).toMatchObject({
      head: null,
      branch: 'main',
      unknown: ['refs is a link'],
    });
  });

  test('a linked .git directory is not entered', async () => {
    const path = history();
    renameSync(join(path, '.git'), join(path, 'elsewhere'));
    symlinkSync('elsewhere', join(path, '.git'));
    const repo = await readUserRepo(path, 'directory');
    expect(repo).toMatchObject({ index: null, state: { unknown: ['.git is a link'] } });
  });

  test('an object or pack that unpacks without end', async () => {
    const path = history();
    const head = commitAt(path);
    const bomb = runProcess(
      'node',
      [
        '-e',
        'process.stdout.write(require("zlib").deflateSync(Buffer.concat([Buffer.from("commit 99999999\\0"), Buffer.alloc(200e6)])))',
      ],
      { binary: true } as never,
    );
    expect(bomb.code).toBe(0);
    const object = join(path, '.git/objects', head.slice(0, 2), head.slice(2));
    chmodSync(object, 0o644);
    writeFileSync(object, Buffer.from(bomb.stdout, 'latin1').subarray(0, 150_000));
    const repo = await readDirectory(path);
    expect(repo).toMatchObject({
      headTree: null,
      state: { head, unknown: ['the commit at HEAD is not in the repository itself'] },
    });
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });

  test('bytes flipped in packs and their indexes', async () => {
    const path = history();
    user.packObjects(path);
    const tree = commitAt(path, 'HEAD^{tree}');
    const folder = join(path, '.git/objects/pack');
    for (const name of fs.readdirSync(folder).filter((each) => /\.(idx|pack)$/.test(each))) {
      const original = readFileSync(join(folder, name));
      chmodSync(join(folder, name), 0o644);
      for (let at = 0; at < original.length; at += 3) {
        const damaged = Buffer.from(original);
        damaged[at] = (damaged[at] ?? 0) ^ 0xff;
        writeFileSync(join(folder, name), damaged);
        const repo = await readDirectory(path);
        expect([tree, null]).toContain(repo.headTree);
        expect(repo.state.unknown.length > 0).toBe(repo.headTree === null);
      }
      writeFileSync(join(folder, name), original);
    }
  });

  test.each([
    { content: 'gitdir: /nowhere/at/all\n', words: 'no repository is where .git leads' },
    { content: 'gitdir: ../nowhere\n', words: 'no repository is where .git leads' },
    { content: 'something else\n', words: 'no repository is where .git leads' },
    { content: '', words: 'no repository is where .git leads' },
    { content: `gitdir: ${'x'.repeat(70_000)}`, words: '.git is larger than 65536 bytes' },
    { content: `gitdir: ${'x'.repeat(9000)}`, words: `${'x'.repeat(9000)} cannot be read (ENAMETOOLONG)` },
    { content: 'gitdir: /proc/self\n', words: 'HEAD is missing' },
    { content: 'gitdir: /dev\n', words: 'HEAD is missing' },
  ])('a .git file with $content.length bytes: $words', async ({ content, words }) => {
    const path = tempDir();
    writeFileSync(join(path, '.git'), content);
    const repo = await readUserRepo(path, 'file');
    expect(repo?.state.unknown).toContain(words);
    expect(repo?.headTree).toBeNull();
  });

  test('a .git file that is a pipe by now', async () => {
    const path = tempDir();
    mkfifo(join(path, '.git'));
    expect(await readUserRepo(path, 'file')).toMatchObject({
      index: null,
      state: { unknown: ['.git is not a regular file'] },
    });
  });

  test('a .git directory that is no repository', async () => {
    const path = tempDir();
    expect(await readUserRepo(path, 'directory')).toBeNull();
    mkdirSync(join(path, '.git'));
    expect(await readUserRepo(path, 'directory')).toBeNull();
    mkdirSync(join(path, '.git/objects'));
    expect((await readUserRepo(path, 'directory'))?.state.unknown).toEqual(['HEAD is missing']);
  });

  test('nothing is changed, not even an access time', async () => {
    const path = history();
    const files = runProcess('find', [join(path, '.git'), '-type', 'f'])
      .stdout.trim()
      .split('\n');
    const old = new Date(1_000_000_000_000);
    for (const file of files) utimesSync(file, old, old);
    const before = files.map((file) => statSync(file).atimeMs);
    await readDirectory(path);
    expect(files.map((file) => statSync(file).atimeMs)).toEqual(before);
  });
});

describe('dirty', () => {
  test.each([
    { what: 'a fresh clone', change: () => undefined, is: false },
    { what: 'an edit', change: (path: string) => writeFileSync(join(path, 'shared.txt'), 'edited\n'), is: true },
    {
      what: 'an edit of the same size',
      change: (path: string) => writeFileSync(join(path, 'shared.txt'), 'OURS\n'),
      is: true,
    },
    { what: 'a file touched', change: (path: string) => utimesSync(join(path, 'shared.txt'), 1, 1), is: false },
    { what: 'a file removed', change: (path: string) => rmSync(join(path, 'src/main.c')), is: true },
    { what: 'an executable bit', change: (path: string) => chmodSync(join(path, 'shared.txt'), 0o755), is: true },
    {
      what: 'a mode that git does not keep',
      change: (path: string) => chmodSync(join(path, 'shared.txt'), 0o600),
      is: false,
    },
    {
      what: 'a link in place of a file',
      change: (path: string) => {
        rmSync(join(path, 'shared.txt'));
        symlinkSync('x', join(path, 'shared.txt'));
      },
      is: true,
    },
    { what: 'staged changes', change: user.stageChanges, is: true },
    {
      what: 'a staged new file',
      change: (path: string) => {
        writeFileSync(join(path, 'new'), 'x');
        user.userGit(path, ['add', 'new']);
      },
      is: true,
    },
    {
      what: 'something staged and taken back',
      change: (path: string) => {
        writeFileSync(join(path, 'new'), 'x');
        user.userGit(path, ['add', 'new']);
        user.userGit(path, ['rm', '-q', '--cached', 'new']);
        rmSync(join(path, 'new'));
      },
      is: false,
    },
    { what: 'an intended addition', change: (path: string) => user.useIndexVersion(path, 3), is: true },
    { what: 'index version 4', change: (path: string) => user.useIndexVersion(path, 4), is: false },
    { what: 'a conflict', change: user.startMerge, is: true },
    { what: 'an unborn branch with a full index', change: user.makeUnborn, is: false },
    { what: 'a submodule', change: (path: string) => user.addSubmodule(path, history(), 'sub'), is: false },
    {
      what: 'an edit that git is told to overlook',
      change: (path: string) => {
        user.userGit(path, ['update-index', '--assume-unchanged', 'shared.txt']);
        writeFileSync(join(path, 'shared.txt'), 'x');
      },
      is: false,
    },
    {
      what: 'a link',
      change: (path: string) => {
        symlinkSync('target', join(path, 'link'));
        user.userGit(path, ['add', 'link']);
        user.userGit(path, ['commit', '-qm', 'link']);
      },
      is: false,
    },
  ])('$what: $is', async ({ change, is }) => {
    const path = history();
    change(path);
    expect(isDirty(await readDirectory(path), presentIn(path), false)).toBe(is);
    expect(isDirty(await readDirectory(path), presentIn(path), true)).toBe(true);
    // git agrees; untracked files are left to the caller. What an unborn branch finds on disk is untracked.
    expect(user.userGitText(path, ['status', '--porcelain', '--untracked-files=no']) !== '').toBe(is);
  });

  test('is not known when stat and content leave it open', async () => {
    const path = history();
    utimesSync(join(path, 'shared.txt'), 1, 1);
    const withoutContent = (name: EntryPath): PresentFile | undefined => {
      const { oid: _, ...rest } = presentIn(path)(name) ?? {};
      return rest as PresentFile;
    };
    expect(isDirty(await readDirectory(path), withoutContent, false)).toBeNull();
  });

  test('an edit within the tick of the last git command is found', async () => {
    for (let round = 0; round < 20; round += 1) {
      const path = history();
      writeFileSync(join(path, 'shared.txt'), 'OURS\n');
      user.userGit(path, ['add', 'shared.txt']);
      user.userGit(path, ['commit', '-qm', 'OURS']);
      const { mtime, atime } = statSync(join(path, 'shared.txt'));
      writeFileSync(join(path, 'shared.txt'), 'ours\n');
      utimesSync(join(path, 'shared.txt'), atime, mtime);
      expect(isDirty(await readDirectory(path), presentIn(path), false)).toBe(true);
    }
  });
});

function mkfifo(path: string): void {
  if (runProcess('mkfifo', [path]).code !== 0) throw new Error('mkfifo failed');
}

/** What lies in the working tree, with the ids that git gives to raw content. */
function presentIn(folder: string): (path: EntryPath) => PresentFile | undefined {
  return (path) => {
    const at = join(folder, path);
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (!stat) return undefined;
    const kind = stat.isFile()
      ? 'file'
      : stat.isSymbolicLink()
        ? 'symlink'
        : stat.isDirectory()
          ? 'directory'
          : 'special';
    const content = kind === 'file' ? readFileSync(at) : Buffer.from(kind === 'symlink' ? readlinkSync(at) : '');
    const oid = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex') as ObjectId;
    return {
      kind,
      size: Number(stat.size),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
      ino: stat.ino,
      mode: Number(stat.mode) & 0o7777,
      oid,
    };
  };
}
