import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { bytesOfText, type HostPath } from '../../src/core/entry-path.js';
import type { LocalRepository } from '../../src/core/remote/remotes.js';
import { findRepository } from '../../src/git/remote/local-repository.js';
import { makeFifo } from '../support/build-tree.js';
import { createRepository, userGit, writeFiles } from '../support/user-git.js';
import { tempDir } from '../support/temp.js';

let area: string;
const at = (...names: string[]): string => join(area, ...names);
const find = (name: string): LocalRepository | undefined => findRepository(bytesOfText(at(name)) as HostPath);

beforeEach(() => {
  area = tempDir('found');
  userGit(area, ['init', '--quiet', '--bare', at('bare.git')]);
  createRepository(at('work'));
});

function linkGitFolder(): void {
  mkdirSync(at('with'));
  symlinkSync(at('work/.git'), at('with/.git'));
}

describe('the repository at a path', () => {
  test('is a bare one or a .git folder, and nothing elsewhere', () => {
    expect(find('bare.git')).toEqual({ directory: at('bare.git'), reads: [at('bare.git/objects')] });
    expect(find('work')).toMatchObject({ directory: at('work/.git') });
    expect(find('work/.git')).toMatchObject({ directory: at('work/.git') });
    writeFiles(at('work'), { commondir: 'a file like others\n' });
    expect(find('work')).toMatchObject({ directory: at('work/.git') });
    for (const name of ['empty', 'with/.git']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('file'), '');
    expect(['empty', 'with', 'file', 'none'].map(find)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test.each([
    ['a .git file', 'linked', () => writeFiles(at('linked'), { '.git': 'gitdir: ../work/.git\n' }), 'linked/.git'],
    ['a .git file in a bare one', 'bare.git', () => writeFiles(at('bare.git'), { '.git': 'x' }), 'bare.git/.git'],
    ['one in a .git folder', 'work', () => writeFiles(at('work/.git'), { '.git': 'x' }), 'work/.git/.git'],
    ['a link', 'with', linkGitFolder, 'with/.git'],
    ['a commondir', 'bare.git', () => writeFiles(at('bare.git'), { commondir: '../work/.git' }), 'bare.git/commondir'],
    ['one of its .git', 'work', () => writeFiles(at('work/.git'), { commondir: '../x' }), 'work/.git'],
  ])('leads to another by %s', (_, name, plant, detour) => {
    plant();
    expect(find(name)).toEqual({ detour: at(detour) });
  });
});

describe('what git would read for a repository besides', () => {
  const reads = (): readonly string[] => {
    const found = find('bare.git');
    return found !== undefined && 'reads' in found ? found.reads : [];
  };

  test.each(['config', 'refs/x', 'objects/pack/pack-1.idx', 'objects/ab', 'objects/info/packs', 'hooks-too'])(
    'is the link %s',
    (name) => {
      rmSync(at('bare.git', name), { force: true });
      symlinkSync('/elsewhere', at('bare.git', name));
      expect(reads()).toEqual(expect.arrayContaining([at('bare.git', name), '/elsewhere']));
    },
  );

  test('are alternates, in whatever way they are written, and theirs', () => {
    const lines = ['# none', at('a/objects'), '../../b/objects', '"/c \\"d\\"\\303\\244"', ''];
    writeFiles(at('bare.git/objects/info'), { alternates: lines.join('\n') });
    writeFiles(at('a/objects/info'), { alternates: '/far/objects\n' });
    symlinkSync('/elsewhere', at('a/objects/pack'));
    const expected = [at('a/objects'), at('b/objects'), '/c "d"\xc3\xa4', '/far/objects', at('a/objects/pack')];
    expect(reads()).toEqual(expect.arrayContaining(expected));
    writeFiles(at('b/objects/info'), { alternates: `${at('bare.git/objects')}\n` });
    expect(reads()).toContain(at('b/objects'));
  });

  test('are files that its configuration includes, all of them, and what they include', () => {
    const text = '[include]\n\tpath = /one\n\tpath = more\n[includeIf "gitdir:**"]\n\tpath = /three\n';
    appendFileSync(at('bare.git/config'), text);
    writeFiles(at('bare.git'), { more: '[include]\n\tpath = ../four\n' });
    expect(reads()).toEqual(expect.arrayContaining(['/one', at('bare.git/more'), '/three', at('four')]));
  });

  test('nothing waits for a pipe that it is led to', () => {
    makeFifo(at('pipe'));
    appendFileSync(at('bare.git/config'), `[include]\n\tpath = ${at('pipe')}\n`);
    expect(reads()).toContain(at('pipe'));
  });

  test('is a folder of that name with .git, which git would go on with', () => {
    mkdirSync(at('bare.git.git'));
    expect(reads()).toContain(at('bare.git.git'));
  });
});
