import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { CaptureRequest } from '../../src/operations/capture/capture.js';
import { buildTree, makeFifo } from '../support/build-tree.js';
import { tempDir } from '../support/temp.js';
import { file } from '../support/tree-plan.js';
import { type Happenings, area, cacheOf, captureAmid, fail, lines, neverHas, without } from './capture-scene.js';

function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function backdate(path: string, content: string): void {
  writeFileSync(path, content);
  utimesSync(path, 0, 0);
}

function makeFolder(path: string, name: string, content: string): void {
  mkdirSync(path);
  writeFileSync(join(path, name), content);
}

describe('a file that changes while it is read', () => {
  const cases: { what: string; change: (path: string, time: number) => void }[] = [
    { what: 'grows', change: (path) => appendFileSync(path, '+') },
    { what: 'shrinks', change: (path) => truncateSync(path, 0) },
    { what: 'is written in place', change: (path, time) => writeFileSync(path, String(time)) },
    { what: 'changes its mode', change: (path, time) => chmodSync(path, 0o600 + time) },
    {
      what: 'is replaced',
      change: (path, time) => replace(path, `${time}`),
    },
    {
      what: 'is written with its time set back',
      change: (path, time) => backdate(path, `${time}`),
    },
  ];

  test.each(cases)('and $what each time is unstable after the third, and nothing else suffers', async ({ change }) => {
    const { path, at } = await area();
    const captured = await captureAmid(path, { 'read d/f': (time) => change(at('d/f'), time) });
    expect(lines(captured)).toEqual([...without('d/f'), 'd/f unstable']);
  });

  test.each(cases)('and $what twice is stored as it is at last', async ({ change }) => {
    const { path, at } = await area();
    let changes = 0;
    const captured = await captureAmid(path, {
      'read d/f': (time) => {
        if (changes++ < 2) change(at('d/f'), time);
      },
    });
    const entry = captured.entries.get('d/f' as EntryPath);
    if (entry?.kind !== 'file') return expect(lines(captured)).toEqual([...without('d/f'), 'd/f unstable']);
    expect(captured.contents.get(entry.oid)).toBe(readFileSync(at('d/f'), 'latin1'));
    expect([entry.size, entry.mode]).toEqual([lstatSync(at('d/f')).size, lstatSync(at('d/f')).mode & 0o7777]);
  });

  test.each(cases)('and $what once is read again, and stored', async ({ change }) => {
    const { path, at } = await area();
    let changes = 0;
    const captured = await captureAmid(path, {
      'read d/f': (time) => {
        if (changes++ < 1) change(at('d/f'), time);
      },
    });
    expect(lines(captured)).toContain(`d/f ${readFileSync(at('d/f'), 'latin1')}`);
  });

  test('is unstable too when it is large and read in pieces', async () => {
    const path = tempDir('capture');
    await buildTree(path, [file('big', { unit: 'x', size: 9 * 1024 * 1024 }), file('z', 'Z')]);
    const captured = await captureAmid(path, { 'read big': () => appendFileSync(join(path, 'big'), '+') });
    expect(lines(captured)).toEqual(['z Z', 'big unstable']);
    const still = await captureAmid(path);
    expect(lines(still)).toEqual([expect.stringMatching(/^big sha256 /), 'z Z']);
  });
});

describe('an entry that is gone by the time it is looked at is not there', () => {
  test.each<{ what: string; happens: (at: (name: string) => string) => Happenings; gone: string[] }>([
    { what: 'a file, before its stat', happens: (at) => ({ 'stat d/f': () => unlinkSync(at('d/f')) }), gone: ['d/f'] },
    {
      what: 'a file, before it is opened',
      happens: (at) => ({ 'open d/f': () => unlinkSync(at('d/f')) }),
      gone: ['d/f'],
    },
    { what: 'a link, before it is read', happens: (at) => ({ 'readLink l': () => unlinkSync(at('l')) }), gone: ['l'] },
    {
      what: 'a folder, before its stat',
      happens: (at) => ({ 'stat d': () => rmSync(at('d'), { recursive: true }) }),
      gone: ['d', 'd/f', 'd/g'],
    },
    {
      what: 'a folder, before it is entered',
      happens: (at) => ({ 'enter d': () => rmSync(at('d'), { recursive: true }) }),
      gone: ['d', 'd/f', 'd/g'],
    },
    {
      what: 'a folder, while the walk is in it',
      happens: (at) => ({ 'stat d/g': () => rmSync(at('d'), { recursive: true }) }),
      gone: ['d/g'],
    },
  ])('$what', async ({ happens, gone }) => {
    const { path, at } = await area();
    expect(lines(await captureAmid(path, happens(at)))).toEqual(without(...gone));
  });

  test('a file that is there again when it is opened is the new one', async () => {
    const { path, at } = await area();
    const captured = await captureAmid(path, {
      'open d/f': (time) => {
        if (time === 1) replace(at('d/f'), 'new');
      },
    });
    expect(lines(captured)).toContain('d/f new');
  });
});

describe('an entry that is of another kind by the time it is opened is looked at anew', () => {
  const become: Record<string, { make: (path: string) => void; line: string[] }> = {
    'a file': { make: (path) => writeFileSync(path, 'new'), line: ['new'] },
    'a link': { make: (path) => symlinkSync('/etc/passwd', path), line: ['/etc/passwd'] },
    'a folder': { make: (path) => makeFolder(path, 'in', 'IN'), line: ['/'] },
    'a pipe': { make: (path) => makeFifo(path), line: ['special'] },
  };
  const looks = [
    { was: 'a file', name: 'd/f', look: 'open' },
    { was: 'a link', name: 'l', look: 'readLink' },
    { was: 'a folder', name: 'd', look: 'enter' },
  ];
  const rows = looks.flatMap((row) => Object.keys(become).map((is) => ({ ...row, is })));

  test.each(rows)('$was becomes $is', async ({ name, look, is }) => {
    const { path, at } = await area();
    const happens = (time: number): void => {
      if (time > 1) return;
      rmSync(at(name), { recursive: true });
      become[is]!.make(at(name));
    };
    const captured = await captureAmid(path, { [`${look} ${name}`]: happens });
    const found = lines(captured).filter((line) => line === `${name} ${become[is]!.line[0]!}`);
    expect(found).toHaveLength(1);
    if (is === 'a folder') expect(lines(captured)).toContain(`${name}/in IN`);
    if (name === 'd' && is !== 'a folder') expect(lines(captured).some((line) => line.startsWith('d/'))).toBe(false);
  });

  test('a folder that becomes another folder is captured as that one', async () => {
    const { path, at } = await area();
    const captured = await captureAmid(path, {
      'enter d': (time) => {
        if (time > 1) return;
        renameSync(at('d'), join(tempDir('moved'), 'd'));
        makeFolder(at('d'), 'x', 'X');
        chmodSync(at('d'), 0o710);
      },
    });
    expect(lines(captured)).toEqual(['a A', 'd /', 'd/x X', 'l a', 'z Z']);
    expect(captured.entries.get('d' as EntryPath)).toMatchObject({ mode: 0o710 });
  });

  test('a link that becomes another link while it is read is captured as that one', async () => {
    const { path, at } = await area();
    const captured = await captureAmid(path, {
      'stat l': (time) => {
        if (time !== 2) return;
        unlinkSync(at('l'));
        symlinkSync('other', at('l'));
      },
    });
    expect(lines(captured)).toContain('l other');
  });

  test('one that changes all the time is unstable', async () => {
    const { path, at } = await area();
    const captured = await captureAmid(path, {
      'open d/f': () => {
        unlinkSync(at('d/f'));
        symlinkSync('x', at('d/f'));
      },
      'readLink d/f': () => replace(at('d/f'), 'x'),
    });
    expect(lines(captured)).toEqual([...without('d/f'), 'd/f unstable']);
  });
});

describe('what may not be read is named, and the walk goes on', () => {
  test.each(['EACCES', 'EPERM', 'EIO', 'ESTALE'])('%s', async (code) => {
    const { path } = await area();
    const deny = fail(code);
    expect(lines(await captureAmid(path, { 'open d/f': deny }))).toEqual([...without('d/f'), 'd/f unreadable']);
    expect(lines(await captureAmid(path, { 'read d/f': deny }))).toEqual([...without('d/f'), 'd/f unreadable']);
    expect(lines(await captureAmid(path, { 'stat d/f': deny }))).toEqual([...without('d/f'), 'd/f unreadable']);
    expect(lines(await captureAmid(path, { 'readLink l': deny }))).toEqual([...without('l'), 'l unreadable']);
    const noFolder = [...without('d', 'd/f', 'd/g'), 'd unreadable /'];
    expect(lines(await captureAmid(path, { 'enter d': deny }))).toEqual(noFolder);
    expect(lines(await captureAmid(path, { 'list d': deny }))).toEqual(noFolder);
  });

  test.each([
    { code: 'EACCES', happens: 'list ' },
    { code: 'EMFILE', happens: 'open d/f' },
    { code: 'ENOMEM', happens: 'list d' },
  ])('but $code at "$happens" is no snapshot at all', async ({ code, happens }) => {
    const { path } = await area();
    await expect(captureAmid(path, { [happens]: fail(code) })).rejects.toThrow(expect.objectContaining({ code }));
  });
});

describe('a store that fails is not taken for a folder that does', () => {
  const failing = (
    method: 'writeBlob' | 'writeTree' | 'writeLargeBlob' | 'has',
    code: string,
  ): Partial<CaptureRequest> => ({
    cache: cacheOf(() => () => 'c'.repeat(40) as ObjectId),
    writer: { ...neverHas, [method]: fail(code) },
  });
  const methods = ['writeBlob', 'writeTree', 'writeLargeBlob', 'has'] as const;
  const codes = ['EIO', 'EACCES', 'ENOENT', 'ENOTDIR', 'ENOSPC'];

  test.each(methods.flatMap((method) => codes.map((code) => ({ method, code }))))(
    '$method with $code ends the walk',
    async ({ method, code }) => {
      const { path, at } = await area();
      writeFileSync(at('d/f'), 'x'.repeat(9 * 1024 * 1024));
      await expect(captureAmid(path, {}, failing(method, code))).rejects.toThrow(expect.objectContaining({ code }));
    },
  );

  test.each(codes)('who is told of progress and fails with %s ends the walk', async (code) => {
    const { path } = await area();
    await expect(captureAmid(path, {}, { onFile: fail(code) })).rejects.toThrow(expect.objectContaining({ code }));
  });

  test('a large file that cannot be read is still only that file', async () => {
    const { path, at } = await area();
    writeFileSync(at('d/f'), 'x'.repeat(9 * 1024 * 1024));
    const again = { 'read d/f': (time: number) => (time > 20 ? fail('EACCES')() : undefined) };
    expect(lines(await captureAmid(path, again))).toEqual([...without('d/f'), 'd/f unreadable']);
    expect(lines(await captureAmid(path, { 'read d/f': fail('EIO') }))).toEqual([...without('d/f'), 'd/f unreadable']);
  });
});
