import { describe, expect, test } from 'vitest';
import type { HostPath } from '../../../src/core/entry-path.js';
import type { ConfiguredMount } from '../../../src/core/jackin/configuration.js';
import type { IsolationRecord } from '../../../src/core/jackin/isolation.js';
import {
  type KnownMounts,
  type NamedMount,
  nameOfDestination,
  sessionMounts,
} from '../../../src/core/jackin/mount-table.js';

const home = '/home/u/.jackin';

function mountsOf(known: Partial<KnownMounts>) {
  return sessionMounts({ named: [], isolation: [], container: null, plan: null, configured: [], home, ...known });
}

const configured = (destination: string, more: Partial<ConfiguredMount> = {}): ConfiguredMount => ({
  source: `/configured${destination}`,
  destination,
  readonly: false,
  isolation: 'shared',
  from: 'workspace',
  ...more,
});

const inContainer = (destination: string, source = `/container${destination}`) => ({
  source,
  destination,
  readonly: false,
});

const planned = (destination: string) => ({
  source: `/planned${destination}`,
  destination,
  isolation: 'shared' as const,
});

const record = (destination: string, more: Partial<IsolationRecord> = {}): IsolationRecord => ({
  mount_dst: destination,
  original_src: '/original',
  isolation: 'worktree',
  worktree_path: `${home}/data/jk/git/worktree/repo${destination}/jk`,
  ...more,
});

const named = (which: string | null, path: string): NamedMount => ({ which, path: path as HostPath });

describe('which mounts there are', () => {
  test('is told by the container, else by the plan, else by the configuration', () => {
    const all = {
      configured: [configured('/c')],
      plan: { workspace: null, role: null, mounts: [planned('/p')] },
      container: [inContainer('/d')],
    };
    const pathsOf = (less: Partial<KnownMounts>) =>
      mountsOf({ ...all, ...less }).map(({ containerPath, path, source }) => [containerPath, path, source]);
    expect(pathsOf({})).toEqual([['/d', '/container/d', 'container']]);
    expect(pathsOf({ container: null })).toEqual([['/p', '/planned/p', 'dry_run']]);
    expect(pathsOf({ container: null, plan: null })).toEqual([['/c', '/configured/c', 'workspace']]);
    expect(pathsOf({ container: [] })).toEqual([]);
  });

  test('they are in the order of their paths in the container', () => {
    const container = [inContainer('/b'), inContainer('/a/z'), inContainer('/a')];
    expect(mountsOf({ container }).map(({ containerPath }) => containerPath)).toEqual(['/a', '/a/z', '/b']);
  });

  test('of what is jackin’s own only the trees that it made for the session are work', () => {
    const own = (kind: string): string => `${home}/data/jk/git/${kind}/repo/w/jk`;
    const container = [
      inContainer('/home/agent', `${home}/data/jk/home`),
      inContainer('/run/s', `${home}/sockets/jk`),
      inContainer('/w', own('worktree')),
      inContainer('/c', own('clone')),
      inContainer('/o', `${home}/data/jk/git/overrides/w`),
      inContainer('/f', `${home}-of-another`),
    ];
    expect(mountsOf({ container }).map(({ containerPath, isolation }) => [containerPath, isolation])).toEqual([
      ['/c', 'clone'],
      ['/f', 'shared'],
      ['/w', 'worktree'],
    ]);
  });
});

describe('the host path of a mount', () => {
  test('is that of the tree that was made for it, and of a shared one nobody made any', () => {
    const isolation = [
      record('/w'),
      record('/s', { isolation: 'shared', worktree_path: '' }),
      record('/e', { worktree_path: '' }),
    ];
    const mounts = mountsOf({ isolation, configured: [configured('/w'), configured('/s')] });
    expect(mounts).toEqual([
      expect.objectContaining({ containerPath: '/s', path: '/configured/s', source: 'workspace', record: null }),
      expect.objectContaining({ containerPath: '/w', path: isolation[0]?.worktree_path, source: 'isolation' }),
    ]);
  });

  test.each([
    { which: '/work/shop', found: 'its path in the container' },
    { which: 'shop', found: 'its name' },
  ])('is what was named by $found, with what is known of it', ({ which }) => {
    const isolation = [record('/work/shop', { isolation: 'clone' })];
    expect(mountsOf({ isolation, named: [named(which, '/elsewhere')] })).toEqual([
      {
        containerPath: '/work/shop',
        path: '/elsewhere',
        source: 'named',
        readonly: false,
        isolation: 'clone',
        record: isolation[0],
      },
    ]);
  });

  test.each([
    { which: 'new', containerPath: 'new' },
    { which: null, containerPath: '/folder' },
  ])('that is of none that is known stands for itself ($which)', ({ which, containerPath }) => {
    const mounts = mountsOf({ configured: [configured('/w')], named: [named(which, '/folder')] });
    expect(mounts).toContainEqual({
      containerPath,
      path: '/folder',
      source: 'named',
      readonly: false,
      isolation: 'shared',
      record: null,
    });
    expect(mounts).toHaveLength(2);
  });

  test('is bytes, whatever text it is', () => {
    expect(mountsOf({ configured: [configured('/w', { source: '/é' })] })[0]?.path).toBe('/\xc3\xa9');
  });
});

test('a plan does not say what is read-only: the configuration does', () => {
  const plan = { workspace: null, role: null, mounts: [planned('/a'), planned('/b')] };
  const mounts = mountsOf({ plan, configured: [configured('/b', { readonly: true, from: 'global' })] });
  expect(mounts.map(({ readonly, source }) => [readonly, source])).toEqual([
    [false, 'dry_run'],
    [true, 'dry_run'],
  ]);
});

test.each([
  ['/workspace', 'workspace'],
  ['/work/shop/', 'shop'],
  ['/a/b//', 'b'],
  ['/', ''],
])('the mount of %s is called %j', (path, name) => {
  expect(nameOfDestination(path)).toBe(name);
});
