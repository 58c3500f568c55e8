import { Buffer } from 'node:buffer';
import { type Stats, lstatSync, statSync } from 'node:fs';

import type { HostPath } from '../../core/entry-path.js';
import { systemCode } from '../../errors.js';

/*
 * Which repository a path leads to, found as git would find it and without asking git, so that it is known before
 * anything of it is read.
 */

const parts = ['HEAD', 'objects', 'refs'];

/**
 * The folder of the repository at the path: the path itself where it is a bare one, else its `.git`. Undefined where
 * there is none, or where it is a linked worktree's or submodule's, whose settings lie elsewhere.
 */
export function findRepository(path: HostPath): HostPath | undefined {
  const inside = `${path === '/' ? '' : path}/.git` as HostPath;
  return [inside, path].find(isRepository);
}

function isRepository(path: HostPath): boolean {
  if (look(path)?.isDirectory() !== true || look(`${path}/commondir`) !== undefined) return false;
  return (
    parts.every((part) => lookThrough(`${path}/${part}`) !== undefined) &&
    lookThrough(`${path}/HEAD`)?.isFile() === true
  );
}

function look(path: string): Stats | undefined {
  return tried(() => lstatSync(Buffer.from(path, 'latin1')));
}

function lookThrough(path: string): Stats | undefined {
  return tried(() => statSync(Buffer.from(path, 'latin1')));
}

function tried(stat: () => Stats): Stats | undefined {
  try {
    return stat();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
