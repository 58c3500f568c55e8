import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import type { GitRequest, Store } from '../../src/core/ports.js';
import { storeGit } from '../support/store-git.js';
import {
  bytesOf,
  commitContent,
  file,
  folder,
  openingIn,
  preparedStore,
  publishSnapshot,
  runScript,
  writeSnapshot,
} from './fixture.js';

interface Shown {
  readonly exitCode: number;
  readonly text: string;
}

async function shown(
  act: (request: GitRequest) => Promise<number>,
  options: readonly string[] = [],
  paths: readonly string[] = [],
): Promise<Shown> {
  const chunks: Uint8Array[] = [];
  const exitCode = await act({
    options,
    paths,
    output: { kind: 'collect', onData: (chunk) => void chunks.push(chunk) },
  });
  return { exitCode, text: Buffer.concat(chunks).toString('latin1') };
}

const strange = 'n\xff \'"\\\nm\t$x';

async function withTwo() {
  const area = await preparedStore();
  const first = await publishSnapshot(area.store, 1, { a: 'one\n', same: 's\n', [strange]: 'x\n' });
  const second = await publishSnapshot(area.store, 2, { a: 'two\n', same: 's\n', [strange]: 'y\n', new: 'n\n' });
  const diff = (options?: readonly string[], paths?: readonly string[]) =>
    shown((request) => area.store.diff(`${first}:mounts`, `${second}:mounts`, request), options, paths);
  return { ...area, first, second, diff };
}

describe('a diff', () => {
  test('is git’s, with paths from the mount on', async () => {
    const { diff } = await withTwo();
    const { exitCode, text } = await diff();
    expect(exitCode).toBe(0);
    expect(text).toContain('diff --git a/m/a b/m/a\n');
    expect(text).toContain('-one\n+two\n');
    expect(text).not.toContain('same');
    expect(text).not.toContain('\x1b');
    expect((await diff(['--name-status', '-z'])).text).toBe(`M\0m/a\0A\0m/new\0M\0m/${strange}\0`);
  });

  test('has git’s exit codes', async () => {
    const { diff, store, first } = await withTwo();
    expect(await diff(['--exit-code', '--name-only'])).toMatchObject({ exitCode: 1 });
    const same = (request: GitRequest) => store.diff(`${first}:mounts`, `${first}:mounts`, request);
    expect(await shown(same, ['--exit-code'])).toEqual({ exitCode: 0, text: '' });
    await expect(diff(['--no-such-option'])).rejects.toMatchObject({ code: 'USAGE' });
  });

  test.each([
    { paths: ['m/a'], names: ['m/a'] },
    { paths: [`m/${strange}`], names: [`m/${strange}`] },
    { paths: ['m/*'], names: [] },
    { paths: [':(glob)m/a', '-a', '--stat'], names: [] },
    { paths: ['m'], names: ['m/a', 'm/new', `m/${strange}`] },
    {
      paths: ['m/a', 'm/new', ...Array.from({ length: 50_000 }, (_, index) => `m/none/${index}`)],
      names: ['m/a', 'm/new'],
    },
  ])('may be limited to paths, literally: $paths.0', async ({ paths, names }) => {
    const { diff, dataDir } = await withTwo();
    const { text } = await diff(['--name-only', '-z'], paths);
    expect(text.split('\0').slice(0, -1)).toEqual(names);
    expect(existsSync(join(dataDir, 'tmp')) ? readdirSync(join(dataDir, 'tmp')) : []).toEqual([]);
  });

  test('reads objects that are not in the store from beside it', async () => {
    const { store, directory, dataDir, first } = await withTwo();
    const packs = readdirSync(join(directory, 'objects/pack'));
    const { writer, directory: scratch, remove } = await store.newScratchWriter();
    const live = writer.writeTree([
      folder(
        'm',
        writer.writeTree([
          file('a', writer.writeBlob(bytesOf('live\n'))),
          file('same', writer.writeBlob(bytesOf('s\n'))),
        ]),
      ),
    ]);
    await writer.publish();
    const diff = (request: GitRequest) => store.diff(`${first}:mounts`, live, request, scratch);
    expect((await shown(diff, ['--name-status', '-z'])).text).toBe(`M\0m/a\0D\0m/${strange}\0`);
    expect((await shown(diff, [], ['m/a'])).text).toContain('-one\n+live\n');
    expect(readdirSync(join(directory, 'objects/pack'))).toEqual(packs);
    await remove();
    expect(existsSync(scratch)).toBe(false);
    expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
    await expect(shown(diff)).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });

  test('runs no program that files name', async () => {
    const { store, dataDir, diff } = await withTwo();
    mkdirSync(join(dataDir, 'no-home'));
    writeFileSync(join(dataDir, 'no-home/.gitconfig'), `[diff]\n\texternal = touch ${dataDir}/ran\n`);
    expect((await diff()).text).toContain('+two');
    // Planted after the store was made sound.
    storeGit(dataDir, ['config', 'diff.external', `touch ${dataDir}/ran`]);
    expect((await diff()).text).toContain('+two');
    expect((await diff(['--stat'])).text).toContain('m/new');
    expect(existsSync(join(dataDir, 'ran'))).toBe(false);
    await expect(
      store.diff('--output=x', 'y', { options: [], paths: [], output: { kind: 'collect', onData: () => undefined } }),
    ).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('a log', () => {
  async function withChain() {
    const area = await preparedStore();
    const commits: ObjectId[] = [];
    for (const [index, content] of ['one\n', 'two\n', 'two\n', 'four\n'].entries()) {
      commits.push(await publishSnapshot(area.store, index + 1, { a: content, b: 'b\n', [strange]: content }));
      if (index > 0) await graft(area.store, area.dataDir, commits[index]!, commits[index - 1]!);
    }
    const refs = commits.map((_, index) => `refs/jackin/t/${index + 1}`);
    const log = (options?: readonly string[], paths?: readonly string[], from = refs) =>
      shown((request) => area.store.log(from, request), options, paths);
    return { ...area, commits, refs, log };
  }

  async function graft(store: Store, dataDir: string, commit: ObjectId, parent: ObjectId): Promise<void> {
    const content = storeGit(dataDir, ['cat-file', 'commit', commit], { env: { GIT_NO_REPLACE_OBJECTS: '1' } }).stdout;
    const writer = store.newWriter();
    const grafted = writer.writeCommit(Buffer.from(content.replace('\n', `\nparent ${parent}\n`)));
    await writer.publish();
    await store.changeRefs([{ name: `refs/replace/${commit}`, old: null, new: grafted }]);
  }

  test('shows the chain, newest first, with what changed in mounts', async () => {
    const { log, refs } = await withChain();
    for (const from of [refs, refs.slice(-1), [...refs].reverse()]) {
      const { text } = await log(['--format=%s', '--name-status'], [], from);
      expect(text.split('\n').filter((line) => line.startsWith('snapshot'))).toEqual([
        'snapshot 4',
        // The same as the one before: there all the same.
        'snapshot 3',
        'snapshot 2',
        'snapshot 1',
      ]);
      expect(text).toContain('M\tm/a\n');
      expect(text).not.toContain('meta');
      expect(text).not.toContain('mounts');
    }
    expect((await log(['-p', '--format='])).text).toContain('--- a/m/a\n+++ b/m/a\n@@ -1 +1 @@\n-two\n+four\n');
  });

  test('may be limited to paths and by options', async () => {
    const { log } = await withChain();
    expect((await log(['--format=%s'], ['m/b'])).text).toBe('snapshot 1\n');
    expect((await log(['--format=%s', '-1'], [`m/${strange}`])).text).toBe('snapshot 4\n');
    expect((await log(['--format=%s'], ['m/none', 'meta'])).text).toBe('');
    expect((await log(['--format=%s', '--reverse', '--name-only', '-z'], [`m/${strange}`])).text).toContain(
      `m/${strange}`,
    );
  });

  test('of no refs is empty', async () => {
    const { log } = await withChain();
    expect(await log([], [], [])).toEqual({ exitCode: 0, text: '' });
  });

  test('is newest first also where dates say otherwise', async () => {
    const { store, dataDir } = await preparedStore();
    const writer = store.newWriter();
    const tree = (content: string) =>
      writer.writeTree([
        folder(
          'mounts',
          writer.writeTree([folder('m', writer.writeTree([file('a', writer.writeBlob(bytesOf(content)))]))]),
        ),
      ]);
    const commits = [3, 2, 1].map((age) =>
      writer.writeCommit(commitContent(tree(`${age}`), `age ${age}\n`, 1_700_000_000 + age)),
    );
    await writer.publish();
    await store.changeRefs(
      commits.map((commit, index) => ({ name: `refs/jackin/t/${index + 1}`, old: null, new: commit })),
    );
    for (const index of [1, 2]) await graft(store, dataDir, commits[index]!, commits[index - 1]!);
    const { text } = await shown(
      (request) => store.log(['refs/jackin/t/3', 'refs/jackin/t/1', 'refs/jackin/t/2'], request),
      ['--format=%s'],
    );
    expect(text).toBe('age 1\nage 2\nage 3\n');
  });
});

describe('on a terminal', () => {
  const script = (dataDir: string, output: string, options = '[]') => `${openingIn(dataDir)}
    const [one, two] = await store.snapshots(null);
    const code = await store.diff(one.commit + ':mounts', two.commit + ':mounts', { options: ${options}, paths: [], output: ${output} });
    console.log('exit ' + code);`;

  test('output goes straight there, with colours where asked for', async () => {
    const { dataDir } = await withTwo();
    const plain = await runScript(script(dataDir, `{ kind: 'inherit', color: false, pager: null }`, `['--exit-code']`));
    expect(plain).toMatchObject({ code: 0, errors: '' });
    expect(plain.text).toContain('-one\n+two\n');
    expect(plain.text).toMatch(/exit 1\n$/);
    const colored = await runScript(script(dataDir, `{ kind: 'inherit', color: true, pager: 'cat' }`));
    expect(colored.text).toContain('\x1b[31m-one');
  });

  test('a pager gets it, in the user’s environment, and git’s exit code counts', async () => {
    const { dataDir } = await withTwo();
    const pager = `{ kind: 'inherit', color: false, pager: 'echo "$LESS $MINE $GIT_DIR"; sed "s/^/> /"' }`;
    const { text, errors } = await runScript(script(dataDir, pager, `['--exit-code']`), {
      MINE: 'mine',
      GIT_DIR: '/x',
    });
    expect(errors).toBe('');
    expect(text).toMatch(/^FRX mine \/x\n> diff --git/);
    expect(text).toContain('> +two\n');
    expect(text).toMatch(/exit 1\n$/);
  });

  test('a pager that is left early is no failure', async () => {
    const area = await preparedStore();
    const writer = area.store.newWriter();
    const long = Array.from({ length: 200_000 }, (_, line) => `line ${line}\n`).join('');
    const commits = ['', long].map((content) => writeSnapshot(writer, { a: content }));
    await writer.publish();
    await area.store.changeRefs(
      commits.map((commit, index) => ({ name: `refs/jackin/t/${index + 1}`, old: null, new: commit })),
    );
    const { text, errors } = await runScript(
      script(area.dataDir, `{ kind: 'inherit', color: false, pager: 'head -n 1' }`),
    );
    expect(errors).toBe('');
    expect(text).toBe('diff --git a/m/a b/m/a\nexit 0\n');
  });
});
