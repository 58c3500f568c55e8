import type { Recipe } from '../inputs/recipe.js';
import type { InputName } from '../settings.js';
import type { Session } from '../session.js';
import { measureBig } from './big-rows.js';
import { measureHistory } from './history-rows.js';
import { measureList } from './list-rows.js';
import { fullPlan, measureTree } from './tree-rows.js';

/** Makes one input and measures its rows. */
export async function measureInput(session: Session, name: InputName): Promise<void> {
  await measurements[name](session);
}

const measurements: Readonly<Record<InputName, (session: Session) => Promise<void>>> = {
  small: (session) =>
    measureTree(session, code(session, 'small', 1), { ...fullPlan(session), slowRuns: 7, quickRuns: 15 }),
  medium: (session) =>
    measureTree(session, code(session, 'medium', 2), { ...fullPlan(session), slowRuns: 5, quickRuns: 11 }),
  large: (session) => measureTree(session, code(session, 'large', 3), fullPlan(session)),
  huge: (session) =>
    measureTree(session, smallFiles(session, 'huge', session.sizes.huge), {
      ...fullPlan(session),
      slowRuns: 1,
      quickRuns: 3,
      // The others need hours for a million files, and no goal speaks of them.
      peers: session.peers.tools.filter(({ name }) => name === 'git'),
    }),
  big: measureBig,
  deep: (session) => measureTree(session, deep(session), fullPlan(session)),
  history: async (session) => {
    await measureHistory(session, { ...code(session, 'medium', 2), name: 'history' });
    await measureList(session, { ...code(session, 'small', 1), name: 'list' });
  },
};

function code(session: Session, name: 'small' | 'medium' | 'large', purpose: number): Recipe {
  return { kind: 'code', name, folder: session.place(name), files: session.sizes[name], seed: session.seed(purpose) };
}

export function smallFiles(session: Session, name: string, files: number): Recipe {
  return { kind: 'small files', name, folder: session.place(name), files, seed: session.seed(4) };
}

function deep(session: Session): Recipe {
  return { kind: 'deep', name: 'deep', folder: session.place('deep'), seed: session.seed(7), ...session.sizes.deep };
}
