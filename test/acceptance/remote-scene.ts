import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refsOf, storeGit } from '../support/store-git.js';
import { userGit, writeFiles } from '../support/user-git.js';
import { Scene } from './scene.js';

// Two users and a repository that both reach.

export function bareRepository(path: string): string {
  userGit('/', ['init', '--quiet', '--bare', path]);
  return path;
}

/** A scene whose instance `t` has two snapshots, and an empty repository beside it. */
export async function savedTwice(): Promise<{ scene: Scene; remote: string }> {
  const scene = new Scene();
  scene.write({ a: 'one\n', 'd/run.sh': '#!/bin/sh\n', '.gitignore': '*.o\n', 'x.o': 'o' });
  chmodSync(scene.at('d/run.sh'), 0o750);
  await scene.save(['-m', 'first']);
  scene.write({ a: 'two\n', 'd/new': 'n\n' });
  await scene.save(['-m', 'second']);
  return { scene, remote: bareRepository(join(scene.area, "a 'remote' $x.git")) };
}

/** What `savedTwice` makes, pushed, and a second user who has fetched it and saved nothing. */
export async function fetchedElsewhere(): Promise<{ scene: Scene; remote: string; to: Scene }> {
  const { scene, remote } = await savedTwice();
  await scene.run(['push', remote]);
  const to = new Scene();
  await to.run(['fetch', remote]);
  return { scene, remote, to };
}

/** The refs of a store that snapshots and their history are. */
export function refsIn(scene: Scene): [name: string, oid: string][] {
  return [...refsOf(scene.store)].sort();
}

/** Everything in the store that nothing leads to. */
export function unreachable(scene: Scene): string {
  return storeGit(scene.dataDir, ['fsck', '--unreachable', '--no-reflogs', '--strict', '--full']).stdout;
}

export function packsIn(scene: Scene): string[] {
  return readdirSync(join(scene.store, 'objects/pack')).sort();
}

/** A program of that name in a folder of its own, which comes first in PATH. */
export function onPath(folder: string, name: string, script: string): string {
  writeFiles(folder, { [name]: script });
  chmodSync(join(folder, name), 0o755);
  return `${folder}:${process.env['PATH'] ?? '/usr/bin:/bin'}`;
}
