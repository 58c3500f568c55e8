import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { MountName } from '../../src/core/ids.js';
import type { PathArgument } from '../../src/core/requests.js';
import { chooseMounts, limitsOf, resolvePath } from '../../src/operations/path-arguments.js';

const names = (...mounts: string[]): MountName[] => mounts as MountName[];
const typed = (path: string, mount: string | null = null): PathArgument => ({
  mount: mount as MountName | null,
  path: path as EntryPath,
});

describe('a path that was typed', () => {
  test.each([
    { mounts: ['web'], path: 'a/b', means: 'web a/b' },
    { mounts: ['web'], path: '', means: 'web ' },
    { mounts: ['web'], path: 'web:a', means: 'web web:a', why: 'with one mount a colon is part of the name' },
    { mounts: ['web', 'api'], path: 'api:a/b', means: 'api a/b' },
    { mounts: ['web', 'api'], path: 'api:', means: 'api ' },
    { mounts: ['web', 'api'], path: 'api:/a/', means: 'api a' },
    { mounts: ['web', 'api'], path: 'api:x:y', means: 'api x:y' },
    { mounts: ['web', 'api'], path: 'api:\xff', means: 'api \xff' },
    { mounts: ['web', 'api'], path: 'a', mount: 'api', means: 'api a' },
    { mounts: ['web', 'api'], path: 'web:a', mount: 'api', means: 'api web:a' },
    { mounts: ['web', 'api'], path: 'a', usual: 'web', means: 'web a' },
    { mounts: ['web', 'api'], path: 'api:a', usual: 'web', means: 'api a' },
    { mounts: ['web', 'api'], path: 'other:a', usual: 'web', means: 'web other:a' },
  ])('$path in $mounts ($mount, $usual) means $means', ({ mounts, path, mount, usual, means }) => {
    const found = resolvePath(names(...mounts), typed(path, mount), usual as MountName | undefined);
    expect(`${found.mount} ${found.path}`).toBe(means);
  });

  test.each([
    { mounts: ['web', 'api'], path: 'a', code: 'USAGE', why: 'it could lie in either' },
    { mounts: ['web', 'api'], path: 'other:a', code: 'USAGE', why: 'no mount has that name' },
    { mounts: ['web', 'api'], path: ':a', code: 'USAGE', why: 'no mount has no name' },
    { mounts: ['web', 'api'], path: 'api:../a', code: 'USAGE', why: 'it leads out of the mount' },
    { mounts: ['web', 'api'], path: 'api:a//b', code: 'USAGE', why: 'it has an empty component' },
    { mounts: ['web'], path: 'a', mount: 'api', code: 'PATH_NOT_FOUND', why: 'there is no such mount' },
    { mounts: [], path: 'a', code: 'USAGE', why: 'there is no mount' },
  ])('$path in $mounts is refused: $why', ({ mounts, path, mount, code }) => {
    expect(() => resolvePath(names(...mounts), typed(path, mount))).toThrow(expect.objectContaining({ code }));
  });

  test('is shown without what steers a terminal', () => {
    expect(() => resolvePath(names('web', 'api'), typed('\x1b[2J'))).toThrow(/^\\x1b\[2J could lie/);
  });
});

describe('the mounts that are asked for', () => {
  const mounts = names('web', 'api');
  const chosen = (request: Parameters<typeof chooseMounts>[1]): unknown =>
    Object.fromEntries(chooseMounts(mounts, request));

  test.each([
    { what: 'all of all, without a word', request: {}, means: { web: null, api: null } },
    { what: 'all of all, for no paths', request: { paths: [] }, means: { web: null, api: null } },
    { what: 'all of one', request: { mount: 'api' as MountName }, means: { api: null } },
    { what: 'paths in one', request: { paths: [typed('web:a'), typed('web:b')] }, means: { web: ['a', 'b'] } },
    {
      what: 'paths in several',
      request: { paths: [typed('web:a'), typed('api:b')] },
      means: { web: ['a'], api: ['b'] },
    },
    {
      what: 'paths without a mount lie in the one that is named',
      request: { mount: 'api' as MountName, paths: [typed('a')] },
      means: { api: ['a'] },
    },
  ])('$what', ({ request, means }) => {
    expect(chosen(request)).toEqual(means);
  });

  test.each([
    { request: { mount: 'none' as MountName }, code: 'PATH_NOT_FOUND' },
    { request: { mount: 'api' as MountName, paths: [typed('web:a')] }, code: 'USAGE' },
    { request: { mount: 'api' as MountName, paths: [typed('a', 'web')] }, code: 'USAGE' },
    { request: { paths: [typed('a')] }, code: 'USAGE' },
  ])('%$ is refused with $code', ({ request, code }) => {
    expect(() => chosen(request)).toThrow(expect.objectContaining({ code }));
  });

  test('limits keep the order in which they were typed', () => {
    expect([...limitsOf(mounts, [typed('api:z'), typed('web:b'), typed('api:a')])]).toEqual([
      ['api', ['z', 'a']],
      ['web', ['b']],
    ]);
  });
});
