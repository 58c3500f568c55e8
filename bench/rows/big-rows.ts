import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, expectSame, remove } from '../disk.js';
import { randomFrom } from '../../test/support/random.js';
import { readRange, writeSparseFile } from '../inputs/large-files.js';
import type { Session } from '../session.js';
import { SnapStore } from '../tools/jackin-snap.js';
import { measuredAlone, noteRun } from './scene.js';
import { measureTree } from './tree-rows.js';

// The default limit is 512 MiB a file.
const saveOptions = ['--max-file-size', '200G'];

/** One big file, with every tool; and a sparse one, with us alone: the peers read its holes. */
export async function measureBig(session: Session): Promise<void> {
  const rows = ['first-save', 'nothing-changed', 'full-restore'] as const;
  const plan = { rows, slowRuns: 1, quickRuns: 3, peers: session.peers.tools, saveOptions };
  const folder = session.place('big');
  const bytes = session.sizes.bigBytes;
  await measureTree(session, { kind: 'big file', name: 'big', folder, bytes, seed: session.seed(5) }, plan);
  if (session.wantsAny(['sparse-save', 'sparse-restore'])) await measureSparse(session);
}

async function measureSparse(session: Session): Promise<void> {
  const folder = session.place('sparse');
  mkdirSync(folder);
  const file = join(folder, 'sparse.bin');
  const starts = writeSparseFile(file, session.sizes.sparseBytes, randomFrom(session.seed(6)));
  const blocks = lstatSync(file).blocks;
  const wanted = starts.map((start) => readRange(file, start));
  await session.untilTrusted();
  for (let round = 0; round < session.runs(1); round++) {
    const store = new SnapStore(session.surroundings, session.place('jackin-snap'), folder, saveOptions);
    noteRun(session, 'sparse-save', 'big', 'jackin-snap', await measuredAlone(store.save));
    const seq = await store.newest();
    emptyFolder(folder);
    noteRun(session, 'sparse-restore', 'big', 'jackin-snap', await measuredAlone(() => store.restore(seq)));
    expectSame('size of the sparse file', session.sizes.sparseBytes, lstatSync(file).size);
    expectSame('the sparse file is sparse', true, lstatSync(file).blocks <= 2 * blocks);
    starts.forEach((start, at) => expectSame('a range', true, readRange(file, start).equals(wanted[at]!)));
    remove(store.place);
  }
  remove(folder);
}
