import type { Context } from '../context.js';

/** What was found damaged in the store a save does not look at: snapshots that build on it are damaged, too. */
export function damageNotes({ store }: Pick<Context, 'store'>): string[] {
  const noted = store.notedDamage().length;
  if (noted === 0) return [];
  return [`The store has damaged objects (${String(noted)}), which this snapshot may need: see "doctor".`];
}
