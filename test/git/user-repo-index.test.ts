import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as isomorphic from 'isomorphic-git';
import { describe, expect, test } from 'vitest';

import { parseIndex } from '../../src/git/user-repo/index-file.js';
import { treeOfIndex } from '../../src/git/user-repo/index-tree.js';
import type { TrackedIndex } from '../../src/git/user-repo/tracked-index.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

function read(repository: string): TrackedIndex {
  const path = join(repository, '.git/index');
  const reading = parseIndex(readFileSync(path), statSync(path, { bigint: true }).mtimeNs);
  if (reading.kind !== 'read') throw new Error(JSON.stringify(reading));
  return reading.value;
}

/** Mode, id, stage and path of every entry, as git lists them. */
function listed(repository: string): string[] {
  return user
    .userGit(repository, ['ls-files', '--stage', '-z'])
    .stdoutBytes.toString('latin1')
    .split('\0')
    .slice(0, -1);
}

function lines(index: TrackedIndex): string[] {
  return [...index.entries()].map(({ mode, oid, stage, path }) => `${mode.toString(8)} ${oid} ${stage}\t${path}`);
}

function withPaths(paths: readonly string[], version: 2 | 4): string {
  const repository = tempDir();
  user.createRepository(repository);
  const input = paths.map((path) => `100644 ${emptyBlob} 0\t${path}\0`).join('');
  user.userGit(repository, ['hash-object', '-w', '--stdin'], { stdin: '' });
  user.userGit(repository, ['update-index', '-z', '--index-info'], { stdin: Buffer.from(input, 'latin1') });
  user.useIndexVersion(repository, version);
  return repository;
}

describe('entries', () => {
  test.each([2, 3, 4] as const)('of version %i are those that git lists', (version) => {
    const repository = tempDir();
    user.createHistory(repository);
    user.useIndexVersion(repository, version);
    const index = read(repository);
    expect(readFileSync(join(repository, '.git/index')).readUInt32BE(4)).toBe(version);
    expect(lines(index)).toEqual(listed(repository));
    expect([...index.entries()].filter((entry) => entry.intentToAdd).map(({ path }) => path)).toEqual(
      version === 3 ? ['intended.txt'] : [],
    );
  });

  test('carry what stat said', () => {
    const repository = tempDir();
    user.createHistory(repository);
    const second = 1_000_000_000n;
    for (const entry of read(repository).entries()) {
      const stat = statSync(join(repository, entry.path), { bigint: true });
      expect(entry).toMatchObject({
        size: Number(stat.size),
        ino: Number(BigInt.asUintN(32, stat.ino)),
        mtimeSeconds: Number(stat.mtimeNs / second),
        mtimeNanoseconds: Number(stat.mtimeNs % second),
        ctimeSeconds: Number(stat.ctimeNs / second),
        ctimeNanoseconds: Number(stat.ctimeNs % second),
      });
    }
  });

  test('carry flags and stages', () => {
    const repository = tempDir();
    user.createHistory(repository);
    user.userGit(repository, ['update-index', '--assume-unchanged', 'README.md']);
    user.userGit(repository, ['update-index', '--skip-worktree', 'src/main.c']);
    user.startMerge(repository);
    const entries = [...read(repository).entries()];
    expect(entries.filter((entry) => entry.assumeValid).map(({ path }) => path)).toEqual(['README.md']);
    expect(entries.filter((entry) => entry.skipWorktree).map(({ path }) => path)).toEqual(['src/main.c']);
    expect(entries.filter((entry) => entry.stage > 0).map(({ path, stage }) => `${path} ${stage}`)).toEqual([
      'shared.txt 1',
      'shared.txt 2',
      'shared.txt 3',
    ]);
    expect(lines(read(repository))).toEqual(listed(repository));
    expect(treeOfIndex(read(repository))).toBeNull();
  });

  test('isomorphic-git reads the same paths', async () => {
    const repository = tempDir();
    user.createHistory(repository);
    expect([...read(repository).entries()].map(({ path }) => path)).toEqual(
      await isomorphic.listFiles({ fs, dir: repository }),
    );
  });
});

describe('the tree of the index', () => {
  test('is noted while nothing was staged since', () => {
    const repository = tempDir();
    user.createHistory(repository);
    user.userGit(repository, ['read-tree', 'HEAD']);
    expect(read(repository).cachedRootTree).toBe(user.userGitText(repository, ['rev-parse', 'HEAD^{tree}']));
    user.stageChanges(repository);
    expect(read(repository).cachedRootTree).toBeNull();
  });

  test('is the one that git would write', () => {
    const repository = tempDir();
    user.createHistory(repository);
    user.stageChanges(repository);
    fs.symlinkSync('x', join(repository, 'link'));
    fs.chmodSync(join(repository, 'src/main.c'), 0o755);
    user.userGit(repository, ['add', '--all']);
    expect(treeOfIndex(read(repository))).toBe(user.userGitText(repository, ['write-tree']));
  });
});

describe('generated paths', () => {
  const name = fc
    .oneof(
      fc.constantFrom('a', 'a.b', 'a-', 'A', 'ab', 'a0', '\xff', '\xc3\xa9', ' ', '\n', '~'),
      fc
        .uint8Array({ minLength: 1, maxLength: 4 })
        .map((bytes) => Buffer.from(bytes).toString('latin1').replace(/[\0/]/g, '_')),
      fc.constant('n'.repeat(200)),
    )
    .filter((text) => text !== '.' && text !== '..' && !/\.git|git~/i.test(text));
  const path = fc.array(name, { minLength: 1, maxLength: 25 }).map((names) => names.join('/'));

  test('of any bytes, in versions 2 and 4', { timeout: 240_000 }, () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(2 as const, 4 as const),
        fc.array(path, { maxLength: 20 }),
        (paths, version, others) => {
          const repository = withPaths(paths, version);
          const index = read(repository);
          const expected = listed(repository);
          const known = expected.map((line) => line.replace(/^[^\t]*\t/, ''));
          expect(lines(index)).toEqual(expected);
          expect(treeOfIndex(index)).toBe(user.userGitText(repository, ['write-tree']));
          for (const asked of [...known, ...others, ...known.map((each) => each.slice(0, each.lastIndexOf('/')))]) {
            expect(index.has(asked)).toBe(known.includes(asked));
            expect(index.hasBelow(asked)).toBe(known.some((each) => asked === '' || each.startsWith(`${asked}/`)));
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a damaged or hostile index', () => {
  function sealed(content: Buffer): Buffer {
    const body = content.subarray(0, -20);
    return Buffer.concat([body, createHash('sha1').update(body).digest()]);
  }

  function sample(version: 2 | 4): Buffer {
    const paths = ['a', 'dir/b', 'dir/c', `long/${'x'.repeat(300)}`, `long/${'x'.repeat(301)}/y`];
    return readFileSync(join(withPaths(paths, version), '.git/index'));
  }

  test('is known by its checksum', () => {
    const content = sample(2);
    for (let at = 0; at < content.length; at += 1) {
      const damaged = Buffer.from(content);
      damaged[at] = (damaged[at] ?? 0) ^ 0x01;
      expect(parseIndex(damaged, 0n).kind).toBe('unreadable');
    }
    for (let length = 0; length < content.length; length += 1)
      expect(parseIndex(content.subarray(0, length), 0n).kind).toBe('unreadable');
  });

  test('a checksum of zeros is none', () => {
    const content = sample(2);
    expect(parseIndex(content.fill(0, content.length - 20), 0n).kind).toBe('read');
  });

  test.each([2, 4] as const)('with a right checksum ends in words too (version %i)', (version) => {
    const content = sample(version);
    const outcome = (bytes: Buffer): string => {
      const reading = parseIndex(sealed(bytes), 0n);
      if (reading.kind !== 'read') return reading.kind;
      return `read, ${typeof treeOfIndex(reading.value)}`;
    };
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(content.length - 21), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(content.length - 21),
        fc.boolean(),
        (changes, length, cut) => {
          const bytes = Buffer.from(content);
          for (const [at, value] of changes) bytes[at] = value;
          expect(outcome(cut ? Buffer.concat([bytes.subarray(0, length), Buffer.alloc(20)]) : bytes)).toMatch(
            /^(unreadable|read, (string|object))$/,
          );
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('is not believed about its count', () => {
    const content = sample(2);
    content.writeUInt32BE(0xffffffff, 8);
    expect(parseIndex(sealed(content), 0n)).toEqual({ kind: 'unreadable', why: 'the index is damaged' });
  });

  test('cannot make endless names of few bytes', () => {
    const first = Buffer.concat([Buffer.alloc(62), Buffer.from([0]), Buffer.alloc(60_000, 'x'), Buffer.from([0])]);
    const more = Array.from({ length: 100_000 }, () =>
      Buffer.concat([Buffer.alloc(62), Buffer.from([0]), Buffer.from('y\0')]),
    );
    const header = Buffer.from('DIRC\0\0\0\x04\0\0\0\0', 'latin1');
    header.writeUInt32BE(100_001, 8);
    expect(parseIndex(sealed(Buffer.concat([header, first, ...more, Buffer.alloc(20)])), 0n)).toEqual({
      kind: 'unreadable',
      why: 'the index is damaged',
    });
  });

  test('an unknown extension that must be understood', () => {
    const content = sample(2);
    const extension = Buffer.from('zzzz\0\0\0\0', 'latin1');
    expect(parseIndex(sealed(Buffer.concat([content.subarray(0, -20), extension, Buffer.alloc(20)])), 0n)).toEqual({
      kind: 'unreadable',
      why: 'an index extension "zzzz"',
    });
  });

  test('another version', () => {
    const content = sample(2);
    content.writeUInt32BE(5, 4);
    expect(parseIndex(sealed(content), 0n)).toEqual({ kind: 'unreadable', why: 'index version 5' });
  });

  test('a large one is read in little time', () => {
    const repository = withPaths(
      Array.from({ length: 100_000 }, (_, at) => `directory-${at % 300}/sub/file-${at}.txt`),
      2,
    );
    const content = readFileSync(join(repository, '.git/index'));
    const started = performance.now();
    const reading = parseIndex(content, 0n);
    const took = performance.now() - started;
    expect(reading.kind).toBe('read');
    expect(took).toBeLessThan(5000);
  });
});
