import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { createRepository, lfsPointer, userGit, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, observedReason, remember } from './scene.js';

let scene: Scene;
let mark: string;

beforeEach(() => {
  scene = new Scene();
  mark = join(scene.outside, 'RAN');
});

/** Sets something in the user's configuration and in that of the repository in the mount. */
function setEverywhere(key: string, value: string): void {
  for (const file of [join(scene.home, '.gitconfig'), scene.at('.git/config')])
    userGit(scene.area, ['config', '-f', file, key, value]);
}

/** Bytes as they are in the store. */
function stored(path: string): Buffer {
  return storeGit(scene.dataDir, ['cat-file', 'blob', `refs/jackin/t/1:mounts/m/${path}`]).stdoutBytes;
}

describe('bytes are raw', () => {
  test('line endings, keywords, encodings and byte order marks stay, whatever configuration and attributes say', async () => {
    createRepository(scene.mount);
    for (const [key, value] of Object.entries({
      'core.autocrlf': 'true',
      'core.safecrlf': 'true',
      'core.eol': 'crlf',
      'core.checkRoundtripEncoding': 'UTF-16',
      'core.ignoreCase': 'true',
      'core.precomposeUnicode': 'true',
      'core.fileMode': 'false',
      'core.symlinks': 'false',
      'core.attributesFile': scene.at('.gitattributes'),
    }))
      setEverywhere(key, value);
    const attributes =
      '* text eol=crlf ident working-tree-encoding=UTF-16LE\n*.gone export-ignore\n*.subst export-subst\n';
    writeFiles(scene.home, { '.config/git/attributes': attributes });
    const files: Record<string, string | Uint8Array> = {
      crlf: 'a\r\nb\r\n',
      lf: 'a\nb\n',
      mixed: 'a\r\nb\n\rc\r',
      'no end': 'a',
      empty: '',
      ident: '$Id$\n$Id: 0123 $\n',
      utf16: Buffer.from('\ufeffa\r\nb\n', 'utf16le'),
      binary: Uint8Array.from({ length: 512 }, (_, at) => at % 256),
      'x.gone': 'g\n',
      'x.subst': '$Format:%H$\n',
      'sub/deep/lf': 'a\nb\n',
    };
    scene.write({ ...files, '.gitattributes': attributes, 'sub/.gitattributes': '* text=auto eol=crlf\n' });
    const before = remember(scene.mount);
    await scene.save();
    for (const [path, content] of Object.entries(files)) expect(stored(path), path).toEqual(Buffer.from(content));
    scene.remove(...Object.keys(files).filter((path) => path !== 'sub/deep/lf'), 'sub');
    await scene.restore();
    expectSame(before);
    const { stdoutBytes } = await scene.run(['cat', '1', '--', 'mixed']);
    expect(stdoutBytes.toString('latin1')).toBe('a\r\nb\n\rc\r');
    await scene.run(['export', '1', join(scene.area, 'exported')]);
    expect(readdirSync(join(scene.area, 'exported'))).toEqual(
      readdirSync(scene.mount).filter((name) => name !== '.git'),
    );
    await scene.restore(1, ['--to', join(scene.area, 'elsewhere')]);
    expect(readdirSync(join(scene.area, 'elsewhere'))).toEqual(readdirSync(join(scene.area, 'exported')));
  });

  test('large-file content and pointers come back as they were, and no filter is started', async () => {
    createRepository(scene.mount);
    for (const way of ['clean', 'smudge', 'process']) setEverywhere(`filter.lfs.${way}`, `touch ${mark}; false`);
    setEverywhere('filter.lfs.required', 'true');
    setEverywhere('diff.lfs.textconv', `touch ${mark}; false`);
    setEverywhere('merge.lfs.driver', `touch ${mark}; false`);
    const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
    const content = Uint8Array.from({ length: 5000 }, (_, at) => (at * 31) % 256);
    for (const folder of ['', 'clone/'])
      scene.write({
        [`${folder}.gitattributes`]: attributes,
        [`${folder}w.bin`]: content,
        [`${folder}p.bin`]: lfsPointer('0'.repeat(64), 5),
        [`${folder}.gitattributes.d/.gitattributes`]: '* filter=missing\n',
      });
    createRepository(scene.at('clone'));
    writeFiles(scene.mount, { '.git/info/attributes': attributes });
    const before = remember(scene.mount);
    await scene.save();
    expect(stored('w.bin')).toEqual(Buffer.from(content));
    scene.remove('w.bin', 'p.bin', 'clone/w.bin', 'clone/p.bin');
    await scene.run(['diff', '1']);
    await scene.restore();
    expectSame(before);
    await scene.run(['log', '-p']);
    expect(readdirSync(scene.outside)).toEqual([]);
  });

  test('what a filter would encrypt is stored as it stands; a secret by its name only when asked for', async () => {
    createRepository(scene.mount);
    setEverywhere('filter.up.clean', `touch ${mark}; tr a-z A-Z`);
    setEverywhere('filter.up.smudge', 'false');
    setEverywhere('filter.up.required', 'true');
    scene.write({ '.gitattributes': '*.key filter=up\n*.enc filter=up\n' });
    scene.write({ 'a.enc': 'hidden-words\n', 'a.key': 'secret-words\n', 'deep/b.key': 'secret-words\n' });
    const before = remember(scene.mount);
    const saved = await scene.save();
    expect(observedReason(saved, 'a.key')).toBe('secret');
    expect(observedReason(saved, 'deep/b.key')).toBe('secret');
    scene.remove('a.enc');
    await scene.restore();
    expectSame(before);
    scene.remove('a.enc', 'a.key');
    scene.write({ 'deep/b.key': 'other words\n' });
    await scene.restore();
    expect([scene.read('a.enc'), scene.has('a.key'), scene.read('deep/b.key')]).toEqual([
      'hidden-words\n',
      false,
      'other words\n',
    ]);
    expect(lstatSync(scene.dataDir).mode & 0o7777).toBe(0o700);
    expect(storeGit(scene.dataDir, ['cat-file', '--batch-all-objects', '--batch', '--unordered']).stdout).not.toContain(
      'secret-words',
    );

    scene.write({ 'a.key': 'secret-words\n' });
    await scene.save(['--include-secrets']);
    expect(await scene.content('latest', 'a.key')).toBe('secret-words\n');
    scene.remove('a.key');
    await scene.restore('latest');
    expect(scene.read('a.key')).toBe('secret-words\n');
    expect(readdirSync(scene.outside)).toEqual([]);
  });
});
