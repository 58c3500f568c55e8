import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { type HostPath, bytesOfText, contains } from '../../src/core/entry-path.js';
import type { InstanceName, MountName } from '../../src/core/ids.js';
import { defaultPolicy } from '../../src/core/policy.js';
import type { SaveRequest } from '../../src/core/requests.js';
import { chooseInstance, chosenRecord, derivedName } from '../../src/operations/session/choose-instance.js';
import { liesIn, overlap } from '../../src/operations/session/folders.js';
import { instanceForSave } from '../../src/operations/session/instance-for-save.js';
import { MemoryContext } from './memory-context.js';

class Place extends MemoryContext {
  at(path: string): string {
    return path === '/' ? path : join(this.area, path);
  }

  folder(path: string): this {
    mkdirSync(this.at(path), { recursive: true });
    return this;
  }

  instanceWith(name: string, mounts: Readonly<Record<string, string>>, state: 'open' | 'closed' = 'open'): this {
    this.records.set(name, {
      name: name as InstanceName,
      createdAt: '',
      state,
      policy: defaultPolicy,
      mounts: Object.entries(mounts).map(([mount, path]) => {
        this.folder(path);
        return { name: mount as MountName, path: this.at(path) as HostPath, dev: 1n, ino: 1n };
      }),
    });
    return this;
  }

  standingIn(path: string): this {
    this.folder(path);
    this.cwd = this.at(path);
    return this;
  }

  derived(path: string): string {
    return derivedName(this.context, bytesOfText(this.at(path)) as HostPath);
  }
}

describe('the instance that a command is about', () => {
  test.each<{ what: string; place: () => Place; found: string }>([
    {
      what: 'the one that is named',
      place: () => named(new Place().instanceWith('web', { m: 'w' }).standingIn('w'), 'api'),
      found: 'api',
    },
    {
      what: 'the one whose mount it is',
      place: () => new Place().instanceWith('web', { m: 'w' }).standingIn('w'),
      found: 'web',
    },
    {
      what: 'the one whose mount it lies in',
      place: () => new Place().instanceWith('web', { m: 'w' }).standingIn('w/a/b'),
      found: 'web',
    },
    {
      what: 'the one with that among several mounts',
      place: () => new Place().instanceWith('web', { m: 'w', n: 'x' }).standingIn('x/y'),
      found: 'web',
    },
    {
      what: 'the innermost',
      place: () => new Place().instanceWith('out', { m: 'w' }).instanceWith('in', { m: 'w/a' }).standingIn('w/a/b'),
      found: 'in',
    },
    {
      what: 'the innermost, of whatever state',
      place: () =>
        new Place().instanceWith('out', { m: 'w' }).instanceWith('in', { m: 'w/a' }, 'closed').standingIn('w/a'),
      found: 'in',
    },
    {
      what: 'the outer one, outside the inner',
      place: () => new Place().instanceWith('out', { m: 'w' }).instanceWith('in', { m: 'w/a' }).standingIn('w/ab'),
      found: 'out',
    },
    {
      what: 'the open one of two',
      place: () =>
        new Place().instanceWith('old', { m: 'w' }, 'closed').instanceWith('new', { m: 'w' }).standingIn('w'),
      found: 'new',
    },
  ])('is $what', ({ place, found }) => {
    expect(chooseInstance(place().context)).toBe(found);
  });

  test('of several with one folder is the one that is named for it', () => {
    const place = new Place().folder('w');
    place.instanceWith('aaa', { m: 'w' }).instanceWith(place.derived('w'), { m: 'w' }).standingIn('w');
    expect(chooseInstance(place.context)).toBe(place.derived('w'));
  });

  test('of several with one folder is none', () => {
    const place = new Place().instanceWith('b', { m: 'w' }).instanceWith('a', { m: 'w' }).standingIn('w');
    expect(() => chooseInstance(place.context)).toThrow(
      expect.objectContaining({ code: 'INSTANCE_AMBIGUOUS', data: { candidates: ['a', 'b'] } }),
    );
  });

  test('is found through a link, by the real path', () => {
    const place = new Place().instanceWith('web', { m: 'w' });
    symlinkSync('w', place.at('link'));
    place.cwd = place.at('link');
    expect(chooseInstance(place.context)).toBe('web');
  });

  test.each(['', 'elsewhere', 'wx'])('is none in the folder "%s"', (folder) => {
    const place = new Place().instanceWith('web', { m: 'w' }).standingIn(folder);
    expect(() => chooseInstance(place.context)).toThrow(expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }));
  });

  test('has no record when the name is nobody’s', () => {
    expect(() => chosenRecord(named(new Place(), 'none').context)).toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND', data: { instance: 'none' } }),
    );
  });
});

describe('the instance that a save is for', () => {
  const saving = (place: Place, folders: readonly string[] = [], more: SaveRequest = {}): string => {
    const { record, isNew } = instanceForSave(place.context, {
      folders: folders.map((path) => {
        const cut = path.indexOf('=');
        const name = cut < 0 ? null : (path.slice(0, cut) as MountName);
        return { name, path: bytesOfText(place.at(path.slice(cut + 1))) as HostPath };
      }),
      ...more,
    });
    const mounts = record.mounts.map((mount) => `${mount.name}=${mount.path.slice(place.area.length + 1)}`);
    return [isNew ? 'new' : 'known', record.name, ...mounts].join(' ');
  };

  test('is made of the current folder where there is none', () => {
    const place = new Place().standingIn('My Project');
    expect(saving(place)).toBe(`new ${place.derived('My Project')} my-project=My Project`);
    expect(place.derived('My Project')).toMatch(/^my-project-[0-9a-f]{8}$/);
  });

  test.each([
    { what: 'one folder', folders: ['w'], mounts: 'w=w' },
    { what: 'several folders', folders: ['w', 'x'], mounts: 'w=w x=x' },
    { what: 'folders with one base name', folders: ['a/w', 'b/w', 'c/w'], mounts: 'w=a/w w-2=b/w w-3=c/w' },
    { what: 'named mounts', folders: ['one=w', 'two=x'], mounts: 'one=w two=x' },
    { what: 'a folder without a letter', folders: ['\u6f22'], mounts: `folder=${bytesOfText('\u6f22')}` },
  ])('is made of $what', ({ folders, mounts }) => {
    const place = named(new Place(), 'demo');
    for (const folder of folders) place.folder(folder.replace(/.*=/, ''));
    expect(saving(place, folders)).toBe(`new demo ${mounts}`);
  });

  test.each([
    { what: 'its folder', folders: ['w', 'x'] },
    { what: 'its folders in another order', folders: ['x', 'w'] },
    { what: 'one of them twice', folders: ['x', 'w', 'x'] },
    { what: 'its mounts by name', folders: ['one=w', 'two=x'] },
  ])('is the one with just these folders: $what', ({ folders }) => {
    const place = new Place().instanceWith('web', { one: 'w', two: 'x' });
    expect(saving(place, folders)).toBe('known web one=w two=x');
    expect(saving(named(place, 'web'), folders)).toBe('known web one=w two=x');
  });

  test('through a link is the one of the real folder', () => {
    const place = new Place().instanceWith('web', { one: 'w' });
    symlinkSync('w', place.at('link'));
    expect(saving(place, ['link'])).toBe('known web one=w');
  });

  test.each<{ what: string; place: () => Place; folders: string[]; code: string; more?: SaveRequest }>([
    {
      what: 'a folder that is none of its',
      place: () => named(web(), 'web'),
      folders: ['w', 'y'],
      code: 'MOUNTS_DIFFER',
    },
    { what: 'fewer folders than it has', place: () => named(web(), 'web'), folders: ['w'], code: 'MOUNTS_DIFFER' },
    {
      what: 'its folder by another name',
      place: () => named(web(), 'web'),
      folders: ['uno=w', 'x'],
      code: 'MOUNTS_DIFFER',
    },
    {
      what: 'a closed instance',
      place: () => named(new Place().instanceWith('web', { m: 'w' }, 'closed'), 'web'),
      folders: [],
      code: 'INSTANCE_CLOSED',
    },
    {
      what: 'a closed instance, from its folder',
      place: () => new Place().instanceWith('web', { m: 'w' }, 'closed').standingIn('w'),
      folders: [],
      code: 'INSTANCE_CLOSED',
    },
    { what: 'a folder that is gone', place: () => new Place(), folders: ['none'], code: 'MOUNT_GONE' },
    { what: 'a file', place: () => withFile(new Place(), 'f'), folders: ['f'], code: 'MOUNT_GONE' },
    { what: 'a mount that is gone', place: () => without(named(web(), 'web'), 'x'), folders: [], code: 'MOUNT_GONE' },
    {
      what: 'a mount that is a file now',
      place: () => withFile(without(named(web(), 'web'), 'x'), 'x'),
      folders: [],
      code: 'MOUNT_GONE',
    },
    { what: 'two mounts of one name', place: () => web(), folders: ['m=w/a', 'm=y'], code: 'USAGE' },
    { what: 'a folder within another', place: () => named(web(), 'new'), folders: ['w', 'w/a'], code: 'MOUNT_UNSAFE' },
    { what: 'a folder twice', place: () => named(web(), 'new'), folders: ['y', 'y'], code: 'MOUNT_UNSAFE' },
    {
      what: 'the root of all beside a folder',
      place: () => named(web(), 'new'),
      folders: ['/', 'y'],
      code: 'MOUNT_UNSAFE',
      more: { allowUnsafeMount: true },
    },
    { what: 'a folder around the data directory', place: () => new Place(), folders: [''], code: 'MOUNT_UNSAFE' },
    {
      what: 'a folder in the data directory',
      place: () => new Place().folder('data/x'),
      folders: ['data/x'],
      code: 'MOUNT_UNSAFE',
    },
    { what: 'a folder of secrets', place: () => new Place().folder('.ssh'), folders: ['.ssh'], code: 'MOUNT_UNSAFE' },
    {
      what: 'a folder in one of secrets',
      place: () => new Place().folder('.config/gh/x'),
      folders: ['.config/gh/x'],
      code: 'MOUNT_UNSAFE',
    },
    {
      what: 'several instances with this folder',
      place: () => new Place().instanceWith('a', { m: 'w' }).instanceWith('b', { m: 'w' }),
      folders: ['w'],
      code: 'INSTANCE_AMBIGUOUS',
    },
  ])('is refused for $what', ({ place, folders, code, more }) => {
    expect(() => saving(place(), folders, more)).toThrow(expect.objectContaining({ code }));
  });

  test('may be of any folder, where that is allowed', () => {
    const place = named(new Place().folder('.ssh'), 'demo');
    expect(saving(place, ['.ssh'], { allowUnsafeMount: true })).toBe('new demo ssh=.ssh');
  });
});

test.each([
  { outer: '/a', inner: '/a', within: true },
  { outer: '/a', inner: '/a/b', within: true },
  { outer: '/a', inner: '/ab', within: false },
  { outer: '/a/b', inner: '/a', within: false },
  { outer: '/', inner: '/a', within: true },
  { outer: '/', inner: '/', within: true },
  { outer: '/a/', inner: '/a', within: true },
  { outer: '/a/', inner: '/a/b/', within: true },
  { outer: '/a/', inner: '/ab', within: false },
])('$inner lies in $outer: $within', ({ outer, inner, within }) => {
  expect(contains(outer as HostPath, inner as HostPath)).toBe(within);
});

function named(place: Place, name: string): Place {
  place.instance = name;
  return place;
}

function web(): Place {
  return new Place().instanceWith('web', { one: 'w', two: 'x' }).folder('y').folder('w/a');
}

function without(place: Place, folder: string): Place {
  rmSync(place.at(folder), { recursive: true });
  return place;
}

function withFile(place: Place, name: string): Place {
  writeFileSync(place.at(name), '');
  return place;
}

describe('a folder lies in another', () => {
  const path = (place: Place, relative: string): HostPath => bytesOfText(place.at(relative)) as HostPath;

  test.each([
    { what: 'through a link in its path', inner: 'link/b', outer: 'a', within: true },
    { what: 'although it is not there yet', inner: 'link/none/yet', outer: 'a', within: true },
    { what: 'that is named by a link', inner: 'a/b', outer: 'link', within: true },
    { what: 'but not beside it', inner: 'ab', outer: 'a', within: false },
    { what: 'but not the other way round', inner: 'a', outer: 'a/b', within: false },
  ])('$what: $inner in $outer: $within', ({ inner, outer, within }) => {
    const place = new Place().folder('a/b').folder('ab');
    symlinkSync('a', place.at('link'));
    expect(liesIn(place.context, path(place, inner), path(place, outer))).toBe(within);
    expect(overlap(place.context, path(place, outer), path(place, inner))).toBe(within || inner === 'a');
  });

  test('by its device and inode, where it is mounted in a second place', () => {
    const place = new Place().folder('a/b').folder('elsewhere/b');
    const { host } = place.context;
    // What a bind mount looks like: two real paths, one folder.
    const identity: typeof host.identity = (asked) =>
      host.identity(asked === path(place, 'elsewhere') ? path(place, 'a') : asked);
    const context = { host: { ...host, identity } };
    expect(liesIn(context, path(place, 'elsewhere/b'), path(place, 'a'))).toBe(true);
    expect(liesIn(context, path(place, 'elsewhere/b'), path(place, 'a/b'))).toBe(false);
  });
});
