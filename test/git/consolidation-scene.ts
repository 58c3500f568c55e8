import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { type StoreArea, preparedStore, publishSnapshot } from './fixture.js';

export const packDirectory = ({ directory }: StoreArea): string => join(directory, 'objects/pack');
export const packsOf = (area: StoreArea): string[] => namesOf(area, '.pack');

export function namesOf(area: StoreArea, suffix: string): string[] {
  return readdirSync(packDirectory(area))
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort();
}

export type Scene = StoreArea & { readonly commits: ObjectId[] };

/** Snapshots of a folder in which a little changes; nearly each object is in one pack alone. */
export async function withSnapshots(count: number): Promise<Scene> {
  const area = await preparedStore();
  const commits = [];
  const same = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`same-${n}`, `same ${n}`]));
  for (let seq = 1; seq <= count; seq++) {
    const files = { ...same, changing: `${randomBytes(300).toString('hex')}\n`, [`own-${seq}`]: `only in ${seq}` };
    commits.push(await publishSnapshot(area.store, seq, files));
  }
  await area.store.brokenSnapshots(commits);
  return { ...area, commits };
}

/** All that there is, as bytes: what each object holds, read by stock git. */
export function contentOf(area: StoreArea): string[] {
  const listed = storeGit(area.dataDir, ['rev-list', '--objects', '--all', '--no-object-names']).stdout;
  const ids = [...new Set(listed.split('\n').filter((line) => line !== ''))].sort();
  return ids.map((id) => `${id} ${hashOf(area, id)}`);
}

function hashOf({ dataDir }: StoreArea, id: string): string {
  const type = storeGit(dataDir, ['cat-file', '-t', id]).stdout.trim();
  return createHash('sha256')
    .update(storeGit(dataDir, ['cat-file', type, id]).stdout, 'latin1')
    .digest('hex');
}

export async function consolidate({ store }: StoreArea): Promise<void> {
  const gathered = await store.gatherPacks();
  if (gathered !== undefined) await store.removeGathered(gathered);
  await store.packRefs();
}

export function expectSound(area: Scene): void {
  expect(fsckStrict(area.dataDir)).toEqual([]);
}
