import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, linkSync, mkdirSync, renameSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commitFiles, createRepository, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, keptReasons, observedReason, planned, remember, rememberUntouched, said } from './scene.js';

describe('what came after the snapshot', () => {
  test('goes, with the folders that it leaves empty, is reported, and comes back from the emergency snapshot', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'old/known': 'k\n' });
    mkdirSync(scene.at('old/empty'));
    const before = remember(scene.mount);
    await scene.save();
    scene.write({ 'new/junk': 'junk\n', 'old/junk': 'junk\n', 'old/empty/x/y/z': 'z\n', 'read only/file': 'f\n' });
    chmodSync(scene.at('new/junk'), 0o600);
    mkdirSync(scene.at('hollow/deeper'), { recursive: true });
    symlinkSync('/etc', scene.at('old/link to a folder'));
    symlinkSync('nowhere', scene.at('old/broken'));
    linkSync(scene.at('a'), scene.at('old/second name'));
    chmodSync(scene.at('read only'), 0o555);
    const later = remember(scene.mount);

    const shown = await scene.restore(1, ['--dry-run']);
    expectSame(later, 'the mount, after a dry run');
    const restored = await scene.restore();
    expectSame(before);
    expect(planned(restored)).toEqual(planned(shown));
    const gone = [
      'new/junk',
      'new',
      'old/junk',
      'old/empty/x/y/z',
      'old/empty/x',
      'hollow/deeper',
      'hollow',
      'old/broken',
    ];
    const reported = [...gone, 'old/link to a folder', 'old/second name', 'read only/file', 'read only'];
    expect(planned(restored)).toEqual(expect.arrayContaining(reported.map((path) => `delete ${path}`)));
    expect(restored.data.changes_reverted).toEqual(expect.arrayContaining(reported));
    expect(restored.data.rollback_summary.deleted_files_count).toBeGreaterThanOrEqual(7);
    const { seq } = restored.data.rollback_summary.emergency_snapshot;
    expect(await scene.content(seq, 'new/junk')).toBe('junk\n');
    await scene.restore(seq);
    expectSame(later, 'the state before');
  });

  test('stays where the restore is limited to a path, to a mount, or told to delete nothing', async () => {
    const scene = new Scene();
    scene.write({ 'd/a': 'a\n', 'e/a': 'a\n' });
    const other = scene.folder('other', { a: 'a\n' });
    await scene.save([], { dirs: [scene.mount, other] });
    scene.write({ 'd/a': 'b\n', 'd/new': 'n', 'e/a': 'b\n', 'e/new': 'n', 'd new': 'n' });
    writeFiles(other, { a: 'b\n', new: 'n' });

    const kept = await scene.restore(1, ['--no-delete', '--mount', 'm', '--', 'd']);
    expect(keptReasons(kept)).toEqual({ 'd/new': 'no_delete' });
    const limited = await scene.restore(1, ['--', 'm:d']);
    expect(planned(limited)).toEqual(['delete d/new']);
    const elsewhere = rememberUntouched(other);
    const mounted = await scene.restore(1, ['--mount', 'm']);
    expect(planned(mounted).sort()).toEqual(['delete d new', 'delete e/new', 'overwrite e/a']);
    expectSame(elsewhere, 'the other mount');
  });

  test('was only renamed or edited: the old name comes back, the new one goes, both states are kept', async () => {
    const scene = new Scene();
    scene.write({ 'src/one': 'one\n', 'src/two': 'two\n', 'lib/x': 'x\n' });
    const before = remember(scene.mount);
    await scene.save();
    renameSync(scene.at('src'), scene.at('source'));
    renameSync(scene.at('source/one'), scene.at('source/uno'));
    scene.write({ 'source/uno': 'edited\n' });
    renameSync(scene.at('lib/x'), scene.at('x'));
    const renamed = remember(scene.mount);
    const restored = await scene.restore();
    expectSame(before);
    expect(await scene.content(restored.data.rollback_summary.emergency_snapshot.seq, 'source/uno')).toBe('edited\n');
    await scene.undo();
    expectSame(renamed, 'the state after the renames');
  });
});

describe('what existed at the save is no candidate for deletion', () => {
  test('whatever git thinks of it: untracked output, in the mount or in a clone below it', async () => {
    const scene = new Scene();
    for (const path of ['.', 'clone']) {
      createRepository(scene.at(path));
      writeFiles(scene.at(path), { src: 's\n' });
      commitFiles(scene.at(path), { src: 's\n' });
      writeFiles(scene.at(path), { 'output/r.jsonl': 'x'.repeat(300_000), 'output/deep/log': 'log' });
    }
    const before = remember(scene.mount);
    const outputs = ['output', 'clone/output'].map((path) => rememberUntouched(scene.at(path)));
    await scene.save();
    scene.write({ src: 't\n', 'clone/src': 't\n' });
    await scene.restore();
    expectSame(before);
    for (const output of outputs) expectSame(output, 'the output');
    scene.remove('output', 'clone/output');
    await scene.restore();
    expectSame(before, 'the mount, its output deleted since');
  });

  test('a file too large is named, then left alone, be it grown, gone, or something else by now', async () => {
    const scene = new Scene();
    for (const name of ['big.bin', 'grown', 'gone', 'folder now', 'link now', 'small now', 'd/renamed']) {
      scene.write({ [name]: '' });
      truncateSync(scene.at(name), name === 'big.bin' ? 300 << 20 : 2 << 20);
    }
    scene.write({ a: 'a\n' });
    const saved = await scene.save(['--max-file-size', '1048576']);
    for (const name of ['big.bin', 'grown', 'gone', 'd/renamed']) expect(observedReason(saved, name)).toBe('too_large');
    scene.write({ a: 'b\n', 'small now': 'small' });
    appendFileSync(scene.at('grown'), 'more');
    scene.remove('gone', 'folder now', 'link now');
    scene.write({ 'folder now/x': 'x' });
    symlinkSync('a', scene.at('link now'));
    renameSync(scene.at('d/renamed'), scene.at('d/other'));
    const left = ['big.bin', 'grown', 'folder now', 'small now'].map((name) => rememberUntouched(scene.at(name)));

    await scene.restore();
    expect(scene.read('a')).toBe('a\n');
    for (const memory of left) expectSame(memory, 'what was left out');
    expect(scene.has('gone')).toBe(false);
    expect(scene.has('link now')).toBe(true);
  });

  test('a file of any size is stored below the limit', async () => {
    const scene = new Scene();
    scene.write({ 'big.bin': '', a: 'a\n' });
    truncateSync(scene.at('big.bin'), 300 << 20);
    appendFileSync(scene.at('big.bin'), 'end\n');
    const before = remember(scene.mount);
    await scene.save();
    scene.remove('big.bin');
    await scene.restore();
    expectSame(before);
  });

  test('an ignored folder is one entry for all below it, and nothing below it is touched', async () => {
    const scene = new Scene();
    scene.write({ '.gitignore': 'logs/\n', 'sub/.gitignore': '/cache\n*.tmp\n!keep.tmp\n', 'sub/keep.tmp': 'k' });
    for (const folder of ['logs', 'deep/logs', 'sub/cache'])
      scene.write(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${folder}/${at}`, `${at}\n`])));
    scene.write({ 'sub/a.tmp': 'a' });
    const before = remember(scene.mount);
    const folders = ['logs', 'deep/logs', 'sub/cache'].map((path) => rememberUntouched(scene.at(path)));
    const saved = await scene.save();
    expect(
      saved.data.observed_only.map(({ path, reason }: { path: string; reason: string }) => `${reason} ${path}`),
    ).toEqual(['ignored deep/logs', 'ignored logs', 'ignored sub/a.tmp', 'ignored sub/cache']);
    scene.write({ y: 'x\n' });
    await scene.restore();
    expect(scene.has('y')).toBe(false);
    expectSame(before);
    for (const folder of folders) expectSame(folder, 'an ignored folder');
    scene.write({ 'logs/later': 'new\n', 'logs/1': '1x\n', 'deep/logs/b/c': 'new\n', 'sub/b.tmp': 'new\n' });
    scene.remove('logs/2');
    const quiet = await scene.restore();
    expect(planned(quiet)).toEqual([]);
    expect([scene.read('logs/later'), scene.read('logs/1'), scene.read('sub/b.tmp')]).toEqual([
      'new\n',
      '1x\n',
      'new\n',
    ]);
  });
});

describe('rules, then or now, make less deletable, never more', () => {
  test('the ignore file was changed, added or removed since', async () => {
    const scene = new Scene();
    scene.write({ '.gitignore': 'then/\n*.then\n', 'known/a': 'a\n', 'gone/.gitignore': 'then-below\n' });
    await scene.save();
    scene.write({
      '.gitignore': 'now/\n*.now\n',
      'then/x': 'x', // Not ignored any more.
      'f.then': 'x',
      'now/x': 'x', // Ignored only now.
      'f.now': 'x',
      'known/.gitignore': 'here\n',
      'known/here': 'x',
      'gone/then-below': 'x',
      'plain new': 'x',
    });
    scene.remove('gone/.gitignore');
    const restored = await scene.restore();
    expect(scene.read('.gitignore')).toBe('then/\n*.then\n');
    for (const path of ['then/x', 'f.then', 'now/x', 'f.now', 'known/here', 'gone/then-below'])
      expect(scene.read(path), path).toBe('x');
    expect(scene.has('plain new')).toBe(false);
    const kept = keptReasons(restored);
    expect(kept).toMatchObject({ 'f.then': 'ignored', 'f.now': 'ignored', 'known/here': 'ignored' });
  });

  test('excludes of the save or of today, stacks, secrets and info/exclude', async () => {
    const scene = new Scene();
    createRepository(scene.mount);
    scene.write({ '.git/info/exclude': 'excluded-then\n', a: 'a\n', 'package.json': '{}' });
    await scene.save(['--exclude', '*.once', '--exclude', '/dir-once/']);
    await scene.run(['instance', 'set', 'exclude=*.today']);
    scene.write({ '.git/info/exclude': 'excluded-now\n' });
    const protectedPaths = {
      'f.once': 'excluded',
      'dir-once/x': 'excluded',
      'f.today': 'excluded',
      'excluded-then': 'ignored',
      'excluded-now': 'ignored',
      'node_modules/dep/index.js': 'excluded',
      '.env': 'secret',
      'deep/.env.local': 'secret',
      'server.pem': 'secret',
      '.ssh/id': 'secret',
      '.config/gh/hosts.yml': 'secret',
    };
    scene.write(Object.fromEntries(Object.keys(protectedPaths).map((path) => [path, 'precious'])));
    scene.write({ 'plain new': 'x', '.env.example': 'x' });
    const restored = await scene.restore();
    for (const path of Object.keys(protectedPaths)) expect(scene.read(path), path).toBe('precious');
    expect(planned(restored)).toEqual(['delete .env.example', 'delete plain new']);
    expect(keptReasons(restored)).toMatchObject({ '.env': 'secret', 'f.once': 'excluded', 'f.today': 'excluded' });
  });

  test('a path that the save did not look at is not proven new; one that it was told of is', async () => {
    const scene = new Scene();
    scene.write({ 'd/a': 'a\n', 'e/a': 'a\n' });
    await scene.save(['--path', 'd', '--path', 'not there', '--path', 'e/nor this']);
    scene.write({ 'd/new': 'n', 'e/new': 'n', 'e/a': 'b\n', 'not there': 'n', 'e/nor this/x': 'n', top: 'n' });
    await scene.restore();
    const found = ['d/new', 'not there', 'e/nor this', 'e/new', 'top'].filter((path) => scene.has(path));
    expect(found).toEqual(['e/new', 'top']);
    expect(scene.read('e/a')).toBe('b\n');
  });

  test('sockets and pipes made since stay and are named; where one holds a place of the snapshot, that is partial', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/held': 'h\n', 'd/b': 'b\n' });
    await scene.save();
    scene.remove('d/held');
    mkdirSync(scene.at('new'));
    spawnSync('mkfifo', [scene.at('d/held'), scene.at('new/pipe'), scene.at('pipe'), scene.at('.gitignore')]);
    scene.write({ a: 'b\n', 'd/b': 'c\n', 'new/file': 'n' });
    const restored = await scene.restore(1, [], { code: 6 });
    expect([scene.read('a'), scene.read('d/b')]).toEqual(['a\n', 'b\n']);
    expect(said(restored)).toContain('d/held');
    for (const path of ['d/held', 'new/pipe', 'pipe', '.gitignore']) expect(scene.has(path), path).toBe(true);
    expect(scene.has('new/file')).toBe(false);
    expect(keptReasons(restored)).toMatchObject({ 'new/pipe': 'special', pipe: 'special' });
  });
});
