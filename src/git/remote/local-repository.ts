import { Buffer } from 'node:buffer';
import { type Stats, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { posix } from 'node:path';

import type { HostPath } from '../../core/entry-path.js';
import type { LocalRepository } from '../../core/remote/remotes.js';
import { systemCode } from '../../errors.js';
import { alternatesOf, includesOf } from './named-by-repository.js';

/*
 * Which repository a path leads to, and what else git would read for it, found as git would find it and without asking
 * git, so that it is known before anything of it is used.
 */

const parts = ['HEAD', 'objects', 'refs'];

/**
 * The path itself where it is a bare repository, else its `.git`. A `.git` file, a link or a `commondir` there leads to
 * another repository, whose settings lie elsewhere. Undefined where there is none.
 */
export function findRepository(path: HostPath): LocalRepository | undefined {
  const inside = below(path, '.git');
  const directory = [inside, path].find(isRepository);
  // git looks for a .git in what it is given before it takes that itself.
  const places = directory === undefined ? [inside, below(path, 'commondir')] : [below(directory, '.git')];
  const detour = places.find(leadsOn);
  if (detour !== undefined) return { detour };
  return directory === undefined ? undefined : { directory, reads: readsOf(directory) };
}

function leadsOn(place: HostPath): boolean {
  const found = look(place);
  if (found?.isDirectory() !== true) return found !== undefined;
  return isRepository(place) || look(`${place}/commondir`) !== undefined;
}

function isRepository(path: string): boolean {
  if (look(path)?.isDirectory() !== true || look(`${path}/commondir`) !== undefined) return false;
  return (
    parts.every((part) => lookThrough(`${path}/${part}`) !== undefined) &&
    lookThrough(`${path}/HEAD`)?.isFile() === true
  );
}

/** All that git would read besides, wherever it lies. */
function readsOf(directory: HostPath): HostPath[] {
  const links = ['', '/info', '/refs'].flatMap((folder) => linksIn(directory + folder));
  const stores = [`${directory}/objects`, ...alternatesOf(`${directory}/objects`)];
  const inStores = stores.flatMap((store) => [
    store,
    ...['', '/info', '/pack'].flatMap((part) => linksIn(store + part)),
  ]);
  // Where git takes the folder for none, it goes on with that.
  const next = look(`${directory}.git`) === undefined ? [] : [`${directory}.git`];
  const all = new Set([...links, ...inStores, ...includesOf(`${directory}/config`), ...next]);
  return [...all] as HostPath[];
}

/** Each with what it names, which need not be there yet. */
function linksIn(folder: string): string[] {
  const entries = tried(() => readdirSync(bytes(folder), { withFileTypes: true, encoding: 'latin1' })) ?? [];
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    const named = entry.isSymbolicLink() ? tried(() => readlinkSync(bytes(path), 'latin1')) : undefined;
    return named === undefined ? [] : [path, posix.resolve(folder, named)];
  });
}

function below(path: string, name: string): HostPath {
  return `${path === '/' ? '' : path}/${name}` as HostPath;
}

function look(path: string): Stats | undefined {
  return tried(() => lstatSync(bytes(path)));
}

function lookThrough(path: string): Stats | undefined {
  return tried(() => statSync(bytes(path)));
}

function bytes(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

function tried<Found>(find: () => Found): Found | undefined {
  try {
    return find();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
