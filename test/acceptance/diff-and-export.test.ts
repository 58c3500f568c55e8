import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import { createRepository, userGit } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, leftovers, rememberUntouched } from './scene.js';

describe('diff', () => {
  async function changed(): Promise<Scene> {
    const scene = new Scene();
    createRepository(scene.mount);
    userGit(scene.mount, ['config', 'diff.conv.textconv', `touch ${scene.outside}/RAN; cat`]);
    userGit(scene.mount, ['config', 'diff.conv.command', `touch ${scene.outside}/RAN`]);
    scene.write({
      '.gitattributes': '*.t diff=conv\n*.bin -diff\n',
      a: 'one\ntwo\n',
      b: 'b\n',
      s: 'same\n',
      'x.t': 't1\n',
    });
    await scene.save();
    scene.write({ a: 'one\n2\n', c: 'c\n', 'x.t': 't2\n', '.env': 'K=1\n' });
    scene.remove('b');
    await scene.save();
    return scene;
  }

  test("is git's between two snapshots, with git's options and exit codes", async () => {
    const scene = await changed();
    const diff = async (...args: string[]): Promise<string> => (await scene.run(['diff', ...args])).stdout;
    expect((await diff('1', '2', '--name-status')).split('\n').slice(0, -1).sort()).toEqual(
      ['A\tm/c', 'D\tm/b', 'M\tm/a', 'M\tm/x.t'].sort(),
    );
    expect(await diff('2', '1', '--name-only')).toBe('m/a\nm/b\nm/c\nm/x.t\n');
    expect(await diff('1', '2', '--stat')).toContain('4 files changed');
    expect(await diff('1', '2', '--shortstat')).toContain('4 files changed');
    expect(await diff('1', '2', '--numstat', '--', 'a')).toBe('1\t1\tm/a\n');
    expect((await scene.run(['diff', '1', '2', '--exit-code'], { code: 1 })).stdout).not.toBe('');
    expect((await scene.run(['diff', '2', '2', '--exit-code'])).stdout).toBe('');
    const one = await diff('1', '2', '--', 'a');
    expect(one).toMatch(/^-two$[^]*^\+2$/m);
    expect(one).toMatch(/^ one$/m);
    expect(one).not.toContain('x.t');
    expect(await diff('1', '2', '-U0', '--', 'a')).not.toMatch(/^ one$/m);
    expect(await diff('1', '2', '--word-diff', '--', 'a')).toContain('[-two-]{+2+}');
    expect(await diff('1', '2', '--', 'x.t')).toMatch(/^-t1$[^]*^\+t2$/m);
    expect(await diff('1', '2')).not.toContain('meta/');
    expect(readdirSync(scene.outside)).toEqual([]);
  });

  test('with the folder as it is now stores nothing, changes nothing, and shows no secret', async () => {
    const scene = await changed();
    await scene.run(['diff', '2', '--exit-code']);
    scene.write({ a: 'live\n', n: 'new\n', 'd/deep': 'new\n', '.env': 'K=2\n', 'x.key': 'K=2\n' });
    symlinkSync('a', scene.at('link'));
    chmodSync(scene.at('s'), 0o755);
    const [mount, store] = [rememberUntouched(scene.mount), rememberUntouched(join(scene.store, 'objects'))];
    const live = await scene.run(['diff', '2', '--exit-code', '--name-status'], { code: 1 });
    expect(live.stdout.split('\n').slice(0, -1).sort()).toEqual([
      'A\tm/d/deep',
      'A\tm/link',
      'A\tm/n',
      'M\tm/a',
      'M\tm/s',
    ]);
    const patch = (await scene.run(['diff', 'first'])).stdout;
    expect(patch).toMatch(/^\+live$/m);
    expect(patch).not.toContain('K=');
    expect((await scene.run(['diff', '2', '--name-only', '--', 'd'])).stdout).toBe('m/d/deep\n');
    expect((await scene.run(['diff', '2', '--name-only', '--', 'nothing'], { code: [0, 3] })).stdout).toBe('');
    expectSame(mount);
    expectSame(store, 'the store');
    expect(leftovers(scene.dataDir)).toEqual([]);
    expect(await scene.numbers()).toEqual([2, 1]);
  });

  test('sees what became of folders, links and empty files', async () => {
    const scene = new Scene();
    await buildTree(scene.mount, [file('f', 'f'), directory('d'), file('d/in', 'in'), symlink('l', 'f'), file('e')]);
    await scene.save();
    scene.remove('f', 'd', 'l', 'e');
    await buildTree(scene.mount, [file('f/in', 'f'), symlink('d', 'f'), file('l', 'l'), file('g')]);
    const lines = (await scene.run(['diff', '1', '--name-status', '--no-renames'])).stdout.split('\n').slice(0, -1);
    expect(lines.sort()).toEqual(['A\tm/d', 'A\tm/f/in', 'A\tm/g', 'D\tm/d/in', 'D\tm/e', 'D\tm/f', 'T\tm/l']);
    await scene.save();
    const saved = (await scene.run(['diff', '1', '2', '--name-status', '--no-renames'])).stdout
      .split('\n')
      .slice(0, -1);
    expect(saved.sort()).toEqual(lines);
  });

  test('and log of one path, and of several mounts, tell paths with their mount', async () => {
    const scene = new Scene();
    const two = scene.folder('two', { f: '1\n' });
    scene.write({ f: '1\n', g: '1\n' });
    await scene.run(['save', '--mount', `one=${scene.mount}`, '--mount', `two=${two}`]);
    writeFileSync(join(two, 'f'), '2\n');
    scene.write({ g: '2\n' });
    await scene.run(['save']);
    expect((await scene.run(['diff', '1', '2', '--name-only'])).stdout).toBe('one/g\ntwo/f\n');
    expect((await scene.run(['diff', '1', '2', '--name-only', '--', 'two:f'])).stdout).toBe('two/f\n');
    const log = await scene.run(['log', '--name-only', '--format=#%s', '--', 'two:f']);
    expect(log.stdout.match(/^#/gm)).toHaveLength(2);
    expect(log.stdout).not.toContain('one/g');
    expect((await scene.run(['log', '-n', '1', '--stat'])).stdout).toMatch(/one\/g[^]*two\/f/);
  });
});

describe('log', () => {
  test('shows every snapshot with its number, why it was made, its labels, and what changed', async () => {
    const scene = new Scene();
    scene.write({ a: '1\n' });
    await scene.save(['-m', 'first words\n\nand more']);
    await scene.save(['--phase', 'tidy up', '--source-tool', 'tool', '--decision', 'd 1', '--resource', 'r']);
    scene.write({ a: '2\n' });
    await scene.restore(1);
    const shown = (await scene.run(['log'])).stdout.split(/\n(?=commit )/);
    expect(shown).toHaveLength(3);
    const [emergency = '', unchanged = '', first = ''] = shown;
    expect(first).toMatch(
      /^commit [0-9a-f]{40}\nSnapshot: 1 \(manual\)\nDate: .*\n\n {4}first words\n\n m\/a \| 1 \+\n/,
    );
    expect(unchanged).toMatch(
      /^Snapshot: 2 [^]*\nJackin-Source-Tool: tool\nJackin-Phase: tidy up\nJackin-Decision: d 1\nJackin-Resource: r\n\n/m,
    );
    expect(unchanged).not.toContain('|');
    expect(emergency).toMatch(/^Snapshot: 3 \(emergency\)$[^]*^Jackin-Recovery-Of: t\/1 /m);
    expect(shown.join('\n')).not.toMatch(/Jackin-(Format|Id|Stored|Mount|Previous)/);
    const whole = (await scene.run(['log', '-p', '--pretty'])).stdout;
    expect(whole).toMatch(/^ {4}and more$[^]*^ {4}Jackin-Mount: m plain /m);
    expect((await scene.run(['log', '--format=%s', '--', 'a'])).stdout.trim().split('\n').at(-1)).toBe('first words');
  });
});

describe('cat, tree and export', () => {
  test.each(['x.zip', 'x.tar.bz2', 'x.tar.xz', 'x.tzst', 'X.ZIP', 'x.7z', 'x.gz'])(
    'refuse to make a folder of the name %s, and name the archives that there are',
    async (name) => {
      const scene = new Scene();
      scene.write({ a: '1\n' });
      await scene.save();
      const run = await scene.run(['export', '1', join(scene.outside, name)], { code: 2 });
      expect(run.stderr).toMatch(
        /\.tar, \.tar\.gz and \.tgz[^]*export latest \.\.\/as-it-was\.tar\.gz[^]*restore latest --to DIR/,
      );
      expect(readdirSync(scene.outside)).toEqual([]);
      await scene.run(['restore', '1', '--yes', '--to', join(scene.outside, name)]);
      await scene.run(['export', '1', join(scene.outside, `${name}.d`)]);
      await scene.run(['export', '1', join(scene.outside, 'X.TAR')]);
      expect(readFileSync(join(scene.outside, 'X.TAR')).subarray(257, 262).toString()).toBe('ustar');
    },
  );

  const spec = [
    file('n', 'no newline'),
    file('d/x', 'x', 0o750),
    directory('d/empty', 0o711),
    file('empty'),
    symlink('l', 'd/x'),
    file('set-id', 's', 0o4755),
    file('name with \xff', 'bytes'),
    file('-dash', 'dash'),
    file(`${'p'.repeat(120)}/${'q'.repeat(150)}/${'r'.repeat(100)}`, 'long'),
    symlink('to-long', 't'.repeat(300)),
  ];

  async function exported(): Promise<{ scene: Scene; then: ReturnType<typeof walkTree> }> {
    const scene = new Scene();
    await buildTree(scene.mount, spec);
    writeFileSync(scene.at('bin'), randomBytes(70_000));
    const then = walkTree(scene.mount);
    await scene.save();
    return { scene, then };
  }

  test('give out exact bytes and whole listings', async () => {
    const { scene } = await exported();
    const bytes = readFileSync(scene.at('bin'));
    scene.remove('bin', 'n');
    scene.write({ later: 'later' });
    expect((await scene.run(['cat', '1', 'bin'])).stdoutBytes.equals(bytes)).toBe(true);
    expect((await scene.run(['cat', '1', 'n', 'empty', 'd/x', '--', '-dash'])).stdout).toBe('no newlinexdash');
    for (const path of ['later', 'd', 'd/empty', 'nope', 'n/below']) await scene.run(['cat', '1', path], { code: 3 });
    expect((await scene.run(['cat', '1', 'l'], { code: [0, 3] })).stdout).not.toBe('x');
    const listing = (await scene.run(['tree', '1'])).stdout;
    for (const name of ['bin', 'n', 'd/x', 'd/empty', 'l', '-dash']) expect(listing).toContain(name);
    expect(listing).not.toContain('later');
    const part = (await scene.run(['tree', '1', 'd'])).stdout;
    expect(part).toContain('x');
    expect(part).not.toContain('bin');
    expect((await scene.json(['tree', '1', 'd/x'])).data.entries).toMatchObject([
      { path: 'd/x', mode: '0750', size_bytes: 1 },
    ]);
  });

  test.each([
    { to: 'folder', unpack: null },
    { to: 'x.tar', unpack: ['tar', '-xpf'] },
    { to: 'x.tar.gz', unpack: ['tar', '-xzpf'] },
    { to: 'x.tgz', unpack: ['tar', '-xzpf'] },
  ])('give out the whole snapshot as $to', async ({ to, unpack }) => {
    const { scene, then } = await exported();
    scene.remove('d', 'bin');
    const target = join(scene.area, to);
    await scene.run(['export', '1', target]);
    let found = target;
    if (unpack !== null) {
      found = join(scene.area, 'unpacked');
      mkdirSync(found);
      const [program = '', ...args] = unpack;
      const run = spawnSync(program, [...args, target, '-C', found], { encoding: 'utf8' });
      expect([run.status, run.stderr]).toEqual([0, '']);
      expect(
        spawnSync('python3', ['-c', 'import sys,tarfile; tarfile.open(sys.argv[1]).getmembers()', target]).status ?? 0,
      ).toBe(0);
    }
    expect(compareTrees(then, walkTree(found))).toEqual([]);
  });

  test('never write over what is there, nor leave half of it', async () => {
    const { scene } = await exported();
    const folder = scene.folder('there', { mine: 'mine' });
    writeFileSync(join(scene.area, 'there.tar'), 'mine');
    symlinkSync(join(scene.outside, 'x.tar'), join(scene.area, 'link.tar'));
    const kept = rememberUntouched(folder);
    for (const to of ['there', 'there.tar', 'link.tar', 'm', 'no/parent/x.tar', 'no/parent/x'])
      await scene.run(['export', '1', join(scene.area, to)], { code: [3, 4, 9] });
    expectSame(kept);
    expect(readFileSync(join(scene.area, 'there.tar'), 'utf8')).toBe('mine');
    expect(readdirSync(scene.outside)).toEqual([]);
    await scene.run(['export', '9', join(scene.area, 'new.tar')], { code: 3 });
    for (const name of readdirSync(join(scene.store, 'objects/pack')))
      if (name.endsWith('.pack')) rmSync(join(scene.store, 'objects/pack', name));
    await scene.run(['export', '1', join(scene.area, 'new.tar')], { code: 7 });
    expect(existsSync(join(scene.area, 'new.tar'))).toBe(false);
  });
});
