import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import type { JsonRun, Scene } from './scene.js';

// What acceptance tests look for in results and folders.

/** What a save left out: reasons by path. */
export function reasons(saved: JsonRun): Record<string, string> {
  const list = saved.data.observed_only as { path: string; reason: string }[];
  return Object.fromEntries(list.map(({ path, reason }) => [path, reason]));
}

/** The paths of all that a snapshot holds but directories. */
export async function stored(scene: Scene, seq: number): Promise<string[]> {
  const { data } = await scene.json(['tree', String(seq)]);
  return data.entries
    .filter(({ kind }: { kind: string }) => kind !== 'directory')
    .map(({ path }: { path: string }) => path);
}

/** A few files at several depths. */
export const files: readonly string[] = ['a', 'd/f', 'd/g', 'd/deep/h', 'z'];

/** Writes them all with one content. */
export function fill(root: string, content: string): void {
  writeFiles(root, Object.fromEntries(files.map((path) => [path, content])));
}

/** Which files have this content. */
export function holding(root: string, content: string): string[] {
  return walkTree(root)
    .filter(({ path, type }) => type === 'file' && readFileSync(join(root, path), 'utf8') === content)
    .map(({ path }) => path);
}
