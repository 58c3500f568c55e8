import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HostPath } from '../../src/index.js';
import { bytesOfText, createSnap } from '../../src/index.js';
import { storeGit } from '../support/store-git.js';
import { makeTempDir } from '../support/temp.js';

const files = 200;
const rounds = 50;

/** Each content is another one of the same size. */
const contentOf = (file: number, round: number): string => `${file} ${round}`.padEnd(64, '.');

const idOf = (content: string): string => createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex');

test('10,000 edits that keep the size, in the moments around saves, are all seen', async () => {
  const area = makeTempDir('racy');
  const mount = join(area, 'mount');
  const paths = Array.from({ length: files }, (_, file) => `d${file % 9}/f${file}`);
  for (let folder = 0; folder < 9; folder++) mkdirSync(join(mount, `d${folder}`), { recursive: true });
  const { PATH, HOME } = process.env;
  const dataDir = join(area, 'data');
  const snap = createSnap({ dataDir, instance: 'racy', cwd: mount, env: { PATH, HOME } });
  const folders = [{ name: null, path: bytesOfText(mount) as HostPath }];
  let edits = 0;
  for (let round = 0; round < rounds; round++) {
    paths.forEach((path, file) => {
      edit(join(mount, path), contentOf(file, round), file % 4);
      edits += 1;
    });
    const { snapshot } = await snap.save({ folders });
    const listed = storeGit(dataDir, ['ls-tree', '-r', `${snapshot.commit}:mounts`]).stdout;
    const stored = new Set(listed.split('\n').map((line) => line.slice(12, 52)));
    const missed = paths.filter((_, file) => !stored.has(idOf(contentOf(file, round))));
    expect(missed).toEqual([]);
  }
  expect(edits).toBe(10_000);
});

/** In place, by another file, with the time of the one before, or twice. */
function edit(path: string, content: string, manner: number): void {
  const before = statSync(path, { throwIfNoEntry: false });
  if (manner === 1) {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    return;
  }
  if (manner === 3) writeFileSync(path, content.toUpperCase().replaceAll('.', '-'));
  writeFileSync(path, content, before === undefined ? {} : { flag: 'r+' });
  if (manner === 2 && before !== undefined) utimesSync(path, before.atime, before.mtime);
}
