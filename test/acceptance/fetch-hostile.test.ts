import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { refsOf } from '../support/store-git.js';
import { userGit, userGitText, writeFiles } from '../support/user-git.js';
import { bareRepository, packsIn, refsIn, savedTwice, unreachable } from './remote-scene.js';
import { Scene, leftovers, said, trap } from './scene.js';

// A remote that somebody else fills, and that names programs.

let from: Scene;
let remote: string;
let to: Scene;

beforeEach(async () => {
  ({ scene: from, remote } = await savedTwice());
  await from.run(['push', remote]);
  to = new Scene();
});

const git = (...args: string[]): string => userGitText(remote, args);

function writeObject(type: string, content: string | Uint8Array): string {
  return userGit(remote, ['hash-object', '-t', type, '-w', '--literally', '--stdin'], { stdin: content }).stdout.trim();
}

/** The commit of the second snapshot with something changed in its text, as t/9. */
function altered(change: (text: string) => string): void {
  const text = userGit(remote, ['cat-file', 'commit', 'refs/jackin/t/2']).stdout;
  git('update-ref', 'refs/jackin/t/9', writeObject('commit', change(text.replace('Jackin-Seq: 2', 'Jackin-Seq: 9'))));
}

/** The second snapshot as t/9, its tree and manifest changed. */
function rebuilt(manifest: (text: string) => string, tree: (lines: string[]) => string[] = (lines) => lines): void {
  const blob = writeObject(
    'blob',
    manifest(
      userGit(remote, ['cat-file', 'blob', 'refs/jackin/t/2:meta/manifest.json']).stdout.replace(
        '"seq": 2',
        '"seq": 9',
      ),
    ),
  );
  const meta = git('ls-tree', 'refs/jackin/t/2:meta').replace(/[0-9a-f]{40}(?=\tmanifest)/, blob);
  const metaTree = userGit(remote, ['mktree'], { stdin: `${meta}\n` }).stdout.trim();
  const root = git('ls-tree', 'refs/jackin/t/2')
    .replace(/[0-9a-f]{40}(?=\tmeta)/, metaTree)
    .split('\n');
  const rootTree = userGit(remote, ['mktree', '--missing'], { stdin: `${tree(root).join('\n')}\n` }).stdout.trim();
  altered((text) => text.replace(/^tree .*/, `tree ${rootTree}`));
}

async function expectRefused(reason: string, detail = ''): Promise<void> {
  const { data } = await to.json(['fetch', '--all', remote], { code: 4, instance: null });
  expect(data.refused).toMatchObject([
    { instance: 't', seq: 9, reason, detail: expect.stringContaining(detail) as string },
  ]);
  expect(data.fetched).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  expect(refsIn(to)).toEqual(refsIn(from));
  expect([unreachable(to), leftovers(to.dataDir)]).toEqual(['', []]);
  expect((await to.json(['verify', '--full'])).data.sound).toBe(true);
}

describe('what is no snapshot is refused, and all else that is there is fetched', () => {
  const same = (text: string): string => text;

  test('a well-made one is taken', async () => {
    rebuilt(same);
    const { data } = await to.json(['fetch', '--all', remote], { instance: null });
    expect(data).toMatchObject({ refused: [], fetched: [{ seq: 1 }, { seq: 2 }, { seq: 9 }] });
  });

  test.each([
    [
      'a parent',
      (text: string) => text.replace(/\nauthor/, `\nparent ${git('rev-parse', 'refs/jackin/t/1')}\nauthor`),
      'its commit',
    ],
    ['another author', (text: string) => text.replace(/^author .* </m, 'author somebody <'), 'its commit'],
    ['another header', (text: string) => text.replace(/\n\n/, '\nencoding latin1\n\n'), 'its commit'],
    [
      'another instance',
      (text: string) => text.replace('Jackin-Instance: t', 'Jackin-Instance: u'),
      'another snapshot',
    ],
    ['no trailers', (text: string) => text.replace(/Jackin-/g, 'Else-'), ''],
    ['the manifest of another', (text: string) => text, 'manifest'],
  ])('a commit with %s', async (_, change, detail) => {
    altered(change);
    await expectRefused('no_snapshot', detail);
  });

  test('a commit of a newer format', async () => {
    altered((text) => text.replace('Jackin-Format: 1', 'Jackin-Format: 2'));
    await expectRefused('unknown_format');
  });

  test.each([
    ['no JSON', () => 'x', 'manifest'],
    [
      'a mount more',
      (text: string) =>
        text.replace(
          '"mounts": [',
          `"mounts": [ ${JSON.stringify({ ...(JSON.parse(text) as { mounts: object[] }).mounts[0], name: 'n' })},`,
        ),
      'other mounts',
    ],
    [
      'a mount whose name leads elsewhere',
      (text: string) => text.replaceAll('"name": "m"', '"name": "../m"'),
      'manifest',
    ],
    [
      'a record that is none',
      (text: string) =>
        text.replace('"instance_record": {', '"instance_record": { "format": "7",  "x": {').replace(/\}\s*$/, '}}'),
      'record',
    ],
    [
      'the record of another',
      (text: string) => text.replace(/("instance_record": \{[^]*?"name": )"t"/, '$1"u"'),
      'another instance',
    ],
    [
      'a scope that leads elsewhere',
      (text: string) => text.replace('"scope": null', '"scope": [{ "mount": "m", "path": "../x" }]'),
      '',
    ],
  ])('a manifest with %s', async (_, change, detail) => {
    rebuilt(change);
    await expectRefused('no_snapshot', detail);
  });

  test.each([
    ['a file beside', () => [`100644 blob ${writeObject('blob', 'x')}\tzzz`]],
    ['a folder beside', () => [`040000 tree ${git('rev-parse', 'refs/jackin/t/1^{tree}')}\tzzz`]],
    ['a submodule beside', () => [`160000 commit ${'1'.repeat(40)}\tzzz`]],
  ])('a tree with %s', async (_, more) => {
    rebuilt(same, (lines) => [...lines, ...more()]);
    await expectRefused('no_snapshot', 'zzz');
  });

  test('a tree with a submodule or an escape that is none among the files', async () => {
    for (const entry of [`160000 commit ${'1'.repeat(40)}\tsub`, `100644 blob ${writeObject('blob', 'x')}\ta%2eb`]) {
      const files = userGit(remote, ['mktree', '--missing'], { stdin: `${entry}\n` }).stdout.trim();
      const mounts = userGit(remote, ['mktree'], { stdin: `040000 tree ${files}\tm\n` }).stdout.trim();
      rebuilt(same, (lines) => lines.map((line) => line.replace(/[0-9a-f]{40}(?=\tmounts)/, mounts)));
      await expectRefused('no_snapshot');
      to = new Scene();
    }
  });

  test('trees that name each other for ten thousand million files', async () => {
    const makeTree = (lines: readonly string[]): string =>
      userGit(remote, ['mktree'], { stdin: lines.map((line) => `${line}\n`).join('') }).stdout.trim();
    let line = `100644 blob ${writeObject('blob', 'x')}`;
    for (let level = 0; level < 10; level += 1)
      line = `040000 tree ${makeTree(Array.from({ length: 10 }, (_, at) => `${line}\td${at}`))}`;
    const mounts = git('ls-tree', 'refs/jackin/t/2:mounts').split('\n');
    const grown = makeTree(mounts.map((each) => `${line}\t${each.split('\t')[1]!}`));
    rebuilt(
      (text) => text,
      (lines) => lines.map((each) => each.replace(/[0-9a-f]{40}(?=\tmounts)/, grown)),
    );
    await expectRefused('no_snapshot', 'stands for more files than it can hold');
  });

  test('a ref that names a blob, a tree or a tag', async () => {
    for (const oid of [writeObject('blob', 'x'), git('rev-parse', 'refs/jackin/t/1^{tree}')]) {
      git('update-ref', 'refs/jackin/t/9', oid);
      await expectRefused('no_snapshot');
      to = new Scene();
    }
  });

  test('refs of other names, and those outside of refs/jackin', async () => {
    const commit = git('rev-parse', 'refs/jackin/t/1');
    for (const name of [
      'jackin/UP/1',
      'jackin/t/007',
      'jackin/t/x',
      'jackin/t/5000000000',
      'jackin/a/b/1',
      'jackin/1',
      'jackin-pin/t/1',
      'heads/refs/jackin/t/8',
    ])
      git('update-ref', `refs/${name}`, commit);
    git('update-ref', `refs/replace/${commit}`, git('rev-parse', 'refs/jackin/t/2'));
    const { data, document } = await to.json(['fetch', '--all', remote], { instance: null });
    expect(data.refused).toEqual([]);
    expect(document.messages).toEqual([expect.stringContaining('6 refs below refs/jackin')]);
    expect(refsIn(to)).toEqual(refsIn(from));
  });
});

describe('what git itself finds wrong ends the fetch, and leaves nothing', () => {
  const expectFailed = async (code = 9): Promise<void> => {
    const run = await to.json(['fetch', '--all', remote], { code, instance: null });
    expect(run.document.ok).toBe(false);
    expect([...refsOf(to.store)]).toEqual([]);
    expect([packsIn(to), leftovers(to.dataDir), readdirSync(join(to.dataDir, 'tmp'))]).toEqual([[], [], []]);
  };

  test.each(['.git', '.GIT', 'git~1', '..'])('a tree with the name %s', async (name) => {
    const raw = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(writeObject('blob', 'x'), 'hex')]);
    altered((text) => text.replace(/^tree .*/, `tree ${writeObject('tree', raw)}`));
    await expectFailed();
  });

  test('an object that the remote lacks or that is torn', async () => {
    const blob = git('rev-parse', 'refs/jackin/t/2:mounts/m/a');
    const file = join(remote, 'objects', blob.slice(0, 2), blob.slice(2));
    expect(existsSync(file), 'it is loose').toBe(true);
    rmSync(file);
    await expectFailed();
    writeFileSync(file, 'torn');
    await expectFailed();
  });

  test('more than is borne', async () => {
    writeFiles(from.mount, { noise: Array.from({ length: 40_000 }, (_, at) => Math.sin(at)).join('') });
    await from.save();
    await from.run(['push', remote]);
    const run = await to.json(['fetch', '--all', '--max-size', '100K', remote], { code: 4, instance: null });
    expect(run.document.error).toMatchObject({ code: 'REMOTE_TOO_LARGE' });
    expect([packsIn(to), readdirSync(join(to.dataDir, 'tmp'))]).toEqual([[], []]);
  });
});

test('nothing that a remote, a user or an environment names is run', async () => {
  const mark = join(from.outside, 'RAN');
  const trapped = trap(join(from.area, 'trapped'), mark);
  const hooks = [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
    'pre-auto-gc',
    'push-to-checkout',
    'pre-push',
  ];
  const alternate = bareRepository(join(from.area, 'alternate.git'));
  const arm = (): void => {
    for (const hook of hooks) trap(join(remote, 'hooks', hook), mark);
    for (const [key, value] of Object.entries({
      'core.fsmonitor': trapped,
      'core.alternateRefsCommand': trapped,
      'core.pager': trapped,
      'core.sshCommand': trapped,
      'gc.auto': '1',
      'gc.recentObjectsHook': trapped,
      'receive.autogc': 'true',
      'uploadpack.packObjectsHook': trapped,
      'credential.helper': `!${trapped}`,
    }))
      userGit(remote, ['config', key, value]);
    writeFiles(remote, { 'objects/info/alternates': `${join(alternate, 'objects')}\n` });
    writeFiles(from.home, {
      '.gitconfig': `[url "ext::${trapped} "]\n\tinsteadOf = ${remote}\n[core]\n\thooksPath = ${join(remote, 'hooks')}\n\tsshCommand = ${trapped}\n[credential]\n\thelper = "!${trapped}"\n[protocol]\n\tallow = always\n`,
    });
  };
  arm();
  const env = {
    GIT_SSH_COMMAND: trapped,
    GIT_SSH: trapped,
    GIT_ASKPASS: trapped,
    SSH_ASKPASS: trapped,
    GIT_PROXY_COMMAND: trapped,
    GIT_EXEC_PATH: join(from.area, 'trapped'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.alternateRefsCommand',
    GIT_CONFIG_VALUE_0: trapped,
    GIT_ALLOW_PROTOCOL: 'ext:file',
    GIT_EXTERNAL_DIFF: trapped,
    GIT_PAGER: trapped,
    PAGER: trapped,
    EDITOR: trapped,
  };
  from.write({ a: 'three\n' });
  await from.save();
  await from.run(['push', remote], { env });
  await to.run(['fetch', '--all', remote], { env, instance: null });
  for (const url of ['http://127.0.0.1:1/x', 'git://127.0.0.1:1/x', '127.0.0.1:x']) {
    const PATH = '/nonexistent:/usr/bin:/bin';
    await from.run(['push', url], { env: { ...env, PATH }, code: 9 });
  }
  expect(existsSync(mark), 'something ran that must not').toBe(false);
  expect(refsIn(to)).toEqual(refsIn(from));
  // Stock git springs them, so that they are live.
  userGit(from.store, ['push', '--quiet', remote, 'refs/jackin/t/1:refs/heads/x'], { mayFail: true });
  expect(existsSync(mark)).toBe(true);
});

test('words of the other side are shown on one line and without control characters', async () => {
  const PATH = `${join(from.area, 'bin')}:${process.env['PATH'] ?? '/usr/bin:/bin'}`;
  trap(join(from.area, 'bin', 'ssh'), join(from.area, 'log'), 'printf "\\033]0;x\\007evil\\nmore\\n" >&2; exit 1');
  const run = await from.run(['fetch', 'host:x'], { env: { PATH }, code: 9 });
  expect(said(run)).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
});
