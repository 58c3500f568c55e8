import { expectSame, remove } from '../disk.js';
import type { Input, Recipe } from '../inputs/recipe.js';
import type { Session } from '../session.js';
import { SnapStore } from '../tools/jackin-snap.js';
import { measuredAlone, noteRun } from './scene.js';

/** What a save beside many snapshots is held against. */
export const besideFew = 'beside 10 snapshots';

/** Lists many snapshots, and saves beside many and beside few. */
export async function measureList(session: Session, recipe: Recipe): Promise<void> {
  if (!session.wantsAny(['list', 'save-beside'])) return;
  const input = session.make(recipe);
  await session.untilTrusted();
  const many = await storeWith(session, input, session.sizes.manySnapshots);
  const few = await storeWith(session, input, 10);
  for (let round = 0; round < session.runs(9); round++) {
    if (session.wants('list')) {
      const listed = await many.measured(['list']);
      noteRun(session, 'list', 'history', 'jackin-snap', listed);
      expectSame('snapshots listed', true, listed.output.split('\n').length > session.sizes.manySnapshots);
    }
    if (!session.wants('save-beside')) continue;
    noteRun(session, 'save-beside', 'history', besideFew, await measuredAlone(few.save));
    noteRun(session, 'save-beside', 'history', 'jackin-snap', await measuredAlone(many.save));
  }
  remove(many.place, few.place);
}

async function storeWith(session: Session, input: Input, snapshots: number): Promise<SnapStore> {
  const store = new SnapStore(session.surroundings, session.place('jackin-snap'), input.folder);
  await store.save();
  // A save beside many is not to take the time in which the oldest go.
  await store.measured(['instance', 'set', 'keep_last=10000', 'auto_prune=false']);
  session.make({ kind: 'snapshots', name: `${snapshots} snapshots`, folder: store.place, seed: 0, total: snapshots });
  await store.measured(['gc']);
  await store.save();
  return store;
}
