import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import { storeGit } from '../../support/store-git.js';
import { Area } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { libraryOver } from '../equipment/library.js';

/** Edits that keep size and time, in the moments around saves: none is missed. */
export const racyEdits: FaultTest = {
  name: 'racy-edits',
  about: 'files are edited around saves, their sizes kept and their times set back',
  counts: { short: 300, nightly: 10_000, soak: 1_000_000 },
  lacks: () => undefined,
  run: async (order, tally) => {
    const area = new Area();
    try {
      await editAndSave(area, order, tally);
    } finally {
      area.remove();
    }
  },
};

const files = 100;

async function editAndSave(area: Area, order: Order, tally: Tally): Promise<void> {
  const { mount, dataDir } = area;
  const random = randomFrom(order.seed);
  const snap = libraryOver(area);
  const paths = Array.from({ length: files }, (_, file) => `d${file % 7}/f${file}`);
  for (let folder = 0; folder < 7; folder += 1) mkdirSync(join(mount, `d${folder}`));
  for (let round = 0; tally.done < order.count && performance.now() < order.until; round += 1) {
    // What the edit before had in the same moment is what a racy look would find.
    const contents = paths.map((path, file) => edited(join(mount, path), `${round} ${file}`, random));
    const { snapshot } = await snap.save({});
    const listed = storeGit(dataDir, ['ls-tree', '-r', '-z', snapshot.commit]).stdout.split('\0');
    const stored = new Map(listed.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(12, 52)]));
    paths.forEach((path, file) => {
      const found = [...stored].find(([name]) => name.endsWith(`/${path}`))?.[1];
      const isMissed = found !== idOf(contents[file]!);
      tally.add(`round ${round} / ${path}`, isMissed ? ['the edit was missed'] : []);
    });
  }
}

/** In place, by another file, with the time that it had before, or twice. @returns the content */
function edited(path: string, what: string, random: Random): string {
  const content = `${what} ${random.below(1_000_000)}`.padEnd(64, '.');
  const before = statSync(path, { throwIfNoEntry: false });
  const manner = random.below(4);
  if (manner === 0) {
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    return content;
  }
  if (manner === 1) writeFileSync(path, content.replaceAll('.', '-'));
  writeFileSync(path, content, before === undefined ? {} : { flag: 'r+' });
  if (manner >= 2 && before !== undefined) utimesSync(path, before.atime, before.mtime);
  return content;
}

function idOf(content: string): string {
  return createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex');
}
