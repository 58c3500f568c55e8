import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ObjectId } from '../../src/core/ids.js';
import type { ObjectType } from '../../src/core/ports.js';
import { GuardedDirectory } from '../../src/git/user-repo/guarded-directory.js';
import { RepositoryObjects, type RepositoryObjectsOptions } from '../../src/git/user-repo/repository-objects.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';
import { history } from './user-repo-samples.js';

type Read = (oid: string, type: ObjectType) => ReturnType<RepositoryObjects['read']>;

function withObjects<T>(
  path: string,
  act: (read: Read, objects: RepositoryObjects) => T,
  options?: RepositoryObjectsOptions,
): T {
  const directory = GuardedDirectory.open(join(path, '.git'));
  if (directory.kind !== 'read') throw new Error('There is no repository.');
  const objects = new RepositoryObjects(directory.value, options);
  try {
    return act((oid, type) => objects.read(oid as ObjectId, type), objects);
  } finally {
    objects.close();
    directory.value.close();
  }
}

/** All objects as git lists them. */
function all(path: string): { readonly oid: string; readonly type: ObjectType }[] {
  const listed = user.userGitText(path, [
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objectname) %(objecttype)',
  ]);
  return listed.split('\n').map((line) => {
    const [oid = '', type] = line.split(' ');
    return { oid, type: type as ObjectType };
  });
}

function rawContent(path: string, oid: string, type: ObjectType): Buffer {
  return execFileSync('git', ['cat-file', type, oid], { cwd: path });
}

/** With files of one text that grows, so that a pack has deltas. */
function withVersions(): string {
  const path = history();
  const lines = Array.from({ length: 300 }, (_, line) => `line ${String(line)} of a text that is long enough`);
  for (const more of ['one', 'two', 'three'])
    user.commitFiles(path, { 'long.txt': `${lines.join('\n')}\n${more}\n` }, more);
  user.userGit(path, ['tag', '-a', '-m', 'a tag', 'v1']);
  return path;
}

const ways = [
  { how: 'with the packs’ indexes in memory', options: {} },
  { how: 'with indexes that are searched', options: { searchIndexes: true } },
] as const;

describe.each(ways)('objects, $how', ({ options }) => {
  test.each([
    { kept: 'loose', pack: () => undefined },
    { kept: 'packed, with deltas', pack: (path: string) => void user.userGit(path, ['gc', '--quiet']) },
    {
      kept: 'in two packs and loose',
      pack: (path: string) => {
        user.userGit(path, ['repack', '-d', '--quiet']);
        user.commitFiles(path, { late: 'late\n' });
        user.userGit(path, ['repack', '--quiet']);
        user.commitFiles(path, { later: 'later\n' });
      },
    },
  ])('that are $kept are as git has them', ({ pack }) => {
    const path = withVersions();
    pack(path);
    withObjects(
      path,
      (read, objects) => {
        for (const { oid, type } of all(path)) {
          const reading = read(oid, type);
          if (reading.kind !== 'read') throw new Error(`${type} ${oid} is ${reading.kind}`);
          expect(reading.value.equals(rawContent(path, oid, type))).toBe(true);
          expect(objects.has(oid as ObjectId)).toBe(true);
        }
      },
      options,
    );
  });

  test('that are not there are absent, and those of another kind are not taken for it', () => {
    const path = withVersions();
    const head = user.userGitText(path, ['rev-parse', 'HEAD']);
    for (const pack of [false, true]) {
      if (pack) user.userGit(path, ['gc', '--quiet']);
      withObjects(
        path,
        (read, objects) => {
          expect(read('1'.repeat(40), 'blob')).toEqual({ kind: 'absent' });
          expect(objects.has('1'.repeat(40) as ObjectId)).toBe(false);
          expect(read(head, 'tree')).toEqual({ kind: 'unreadable', why: `object ${head} is no tree` });
        },
        options,
      );
    }
  });

  test('that are too large are not read', () => {
    const path = withVersions();
    const blob = user.userGitText(path, ['rev-parse', 'HEAD:long.txt']);
    for (const pack of [false, true]) {
      if (pack) user.userGit(path, ['gc', '--quiet']);
      withObjects(path, (read) => expect(read(blob, 'blob').kind).toBe('unreadable'), { ...options, largest: 1000 });
    }
  });

  test('in a pack that is damaged or cut off are not read, and do no harm', () => {
    const path = withVersions();
    user.userGit(path, ['gc', '--quiet']);
    const objects = all(path);
    const [name = ''] = readdirSync(join(path, '.git/objects/pack')).filter((each) => each.endsWith('.pack'));
    const pack = join(path, '.git/objects/pack', name);
    const content = readFileSync(pack);
    chmodSync(pack, 0o644);
    for (const harm of [content.subarray(0, content.length / 2), Buffer.alloc(0), damaged(content)]) {
      writeFileSync(pack, harm);
      withObjects(
        path,
        (read) => {
          const kinds = objects.map(({ oid, type }) => read(oid, type).kind);
          expect(kinds).toContain('unreadable');
          expect(kinds).not.toContain('absent');
        },
        options,
      );
    }
  });
});

test('a loose object that is damaged, a link or something else is not taken for it', () => {
  const path = withVersions();
  const head = user.userGitText(path, ['rev-parse', 'HEAD']);
  const file = join(path, '.git/objects', head.slice(0, 2), head.slice(2));
  const content = readFileSync(file);
  const other = user.userGitText(path, ['rev-parse', 'HEAD~1']);
  const harms: (() => void)[] = [
    () => writeFileSync(file, content.subarray(0, content.length - 8)),
    () => writeFileSync(file, readFileSync(join(path, '.git/objects', other.slice(0, 2), other.slice(2)))),
    () => writeFileSync(file, 'no object'),
    () => {
      const elsewhere = join(tempDir(), 'object');
      writeFileSync(elsewhere, content);
      symlinkSync(elsewhere, file);
    },
    () => mkdirSync(file),
  ];
  for (const harm of harms) {
    rmSync(file, { force: true, recursive: true });
    harm();
    expect(withObjects(path, (read) => read(head, 'commit')).kind).toBe('unreadable');
  }
});

test('what another repository lends is not read', () => {
  const from = history();
  const path = join(tempDir(), 'borrower');
  user.createRepository(path);
  writeFileSync(join(path, '.git/objects/info/alternates'), `${join(from, '.git/objects')}\n`);
  const head = user.userGitText(from, ['rev-parse', 'HEAD']);
  expect(user.userGitText(path, ['cat-file', '-t', head])).toBe('commit');
  expect(withObjects(path, (read, objects) => [read(head, 'commit').kind, objects.has(head as ObjectId)])).toEqual([
    'absent',
    false,
  ]);
});

function damaged(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  for (let at = 20; at < copy.length - 20; at += 16) copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}
