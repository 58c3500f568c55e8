import type { LeftOutReason, ObservedOnly } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { Directory } from '../../core/ports.js';
import type { LeftOutFigures } from '../../core/plan-result.js';
import { systemCode } from '../../errors.js';
import type { Interruption } from '../interruption.js';

/** What is left out for each reason: files and links, and their sizes. Names and stats are looked at, never contents. */
export async function measureLeftOut(
  interruption: Interruption,
  root: Directory,
  leftOut: readonly ObservedOnly[],
): Promise<LeftOutFigures[]> {
  const byReason = new Map<LeftOutReason, { entries: number; files: number; bytes: number; unknown: boolean }>();
  for (const { path, reason } of leftOut) {
    const figures = byReason.get(reason) ?? { entries: 0, files: 0, bytes: 0, unknown: false };
    byReason.set(reason, figures);
    figures.entries += 1;
    // What lies on another file system may be anything, and slow.
    if (reason === 'foreign_fs') figures.unknown = true;
    else await measureAt(interruption, root, path, figures);
  }
  return [...byReason].map(([reason, figures]) => ({ reason, ...figures }));
}

type Figures = Omit<LeftOutFigures, 'reason' | 'entries'> & { files: number; bytes: number; unknown: boolean };

async function measureAt(
  interruption: Interruption,
  root: Directory,
  path: EntryPath,
  figures: Figures,
): Promise<void> {
  const opened: Directory[] = [];
  try {
    let directory = root;
    const names = path.split('/');
    const last = names.pop() ?? '';
    for (const name of names) opened.push((directory = directory.enter(name)));
    await measure(interruption, directory, last, figures);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    figures.unknown = true;
  } finally {
    for (const directory of opened.reverse()) directory.close();
  }
}

async function measure(
  interruption: Interruption,
  directory: Directory,
  name: string,
  figures: Figures,
): Promise<void> {
  const stat = directory.stat(name);
  if (stat === undefined) return;
  if (stat.kind !== 'directory') {
    figures.files += 1;
    figures.bytes += stat.kind === 'file' ? stat.size : 0;
    return;
  }
  await interruption.pause();
  const inside = directory.enter(name);
  try {
    if (inside.identity.dev !== directory.identity.dev) figures.unknown = true;
    else for (const below of inside.list()) await measureOrUnknown(interruption, inside, below, figures);
  } finally {
    inside.close();
  }
}

/** What cannot be looked at does not count, and that is said. */
async function measureOrUnknown(
  interruption: Interruption,
  directory: Directory,
  name: string,
  figures: Figures,
): Promise<void> {
  try {
    await measure(interruption, directory, name, figures);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    figures.unknown = true;
  }
}
