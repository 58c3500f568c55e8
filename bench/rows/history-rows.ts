import { join } from 'node:path';
import type { Measured } from '../command.js';
import { settle } from '../command.js';
import { diskUsage, expectSame } from '../disk.js';
import type { Input, Recipe } from '../inputs/recipe.js';
import type { Session } from '../session.js';
import { GitStore } from '../tools/git.js';
import type { SnapStore } from '../tools/jackin-snap.js';
import type { ToolStore } from '../tools/tool.js';
import { changeTen, measuredAlone, noteRun, openStores, removeStores } from './scene.js';
import { startOfNode } from './start-rows.js';

interface History {
  readonly session: Session;
  readonly input: Input;
  readonly ours: SnapStore;
  readonly git: GitStore | undefined;
  readonly restic: ToolStore | undefined;
}

/** What the automatic housekeeping leaves, after a `gc` by hand. */
export const afterGc = 'jackin-snap, after gc';

/** Many snapshots of one folder, ten files changed each: what they take, and how quickly neighbours are compared. */
export async function measureHistory(session: Session, recipe: Recipe): Promise<void> {
  if (!session.wantsAny(['history-save', 'diff', 'store-size'])) return;
  const input = session.make(recipe);
  await session.untilTrusted();
  const tools = session.peers.tools.filter(({ name }) => name !== 'borg');
  const stores = await openStores(session, input.folder, tools);
  const history: History = {
    session,
    input,
    ours: stores.ours,
    git: stores.peers.map(({ store }) => store).find((store) => store instanceof GitStore),
    restic: stores.peers.find(({ tool }) => tool === 'restic')?.store,
  };
  await saveAll(history);
  if (session.wants('diff')) await compareNeighbours(history);
  if (session.wants('store-size')) await weigh(history);
  removeStores(stores);
}

async function saveAll({ session, input, ours, git, restic }: History): Promise<void> {
  const timed = async (tool: string, work: () => Promise<Measured>): Promise<void> => {
    session.results.add('history-save', 'history', tool, await work());
  };
  for (let count = 1; count <= session.sizes.historySnapshots; count++) {
    await timed('jackin-snap', ours.save);
    if (count === 1) await ours.measured(['instance', 'set', 'keep_last=10000']);
    if (git !== undefined) await timed('git', () => git.commit());
    if (restic !== undefined) await timed('restic', restic.save);
    if (count < session.sizes.historySnapshots) changeTen(input, count);
    if (count % 100 === 0) session.say(`history: ${count} snapshots`);
  }
  const kept = await ours.snapshots(session.sizes.historySnapshots + 1);
  expectSame('snapshots of history', session.sizes.historySnapshots, kept.length);
}

// git compares its own commits of the same folder, in a repository that its gc has packed.
async function compareNeighbours({ session, ours, git }: History): Promise<void> {
  await git?.measured(['gc', '--quiet']);
  const commits = (await git?.commits(session.sizes.historySnapshots))?.reverse();
  const step = Math.max(1, Math.floor(session.sizes.historySnapshots / 10));
  for (let round = 0; round < session.runs(9); round++) {
    const older = 1 + ((round * step) % (session.sizes.historySnapshots - 1));
    const pair = [String(older), String(older + 1)];
    noteRun(session, 'diff', 'history', 'jackin-snap', await measuredAlone(() => ours.measured(['diff', ...pair])));
    const named = await ours.measured(['diff', ...pair, '--name-only']);
    expectSame('files that differ', 10, named.output.trim().split('\n').length);
    if (git !== undefined && commits !== undefined) {
      const words = ['--no-pager', 'diff', commits[older - 1]!, commits[older]!];
      noteRun(session, 'diff', 'history', 'git', await measuredAlone(() => git.measured(words)));
    }
    noteRun(session, 'diff', 'history', 'node -e 0', await startOfNode(session));
  }
}

async function weigh({ session, ours, git, restic }: History): Promise<void> {
  const note = (tool: string, place: string): void => {
    session.results.addSize('store-size', 'history', tool, diskUsage(place));
  };
  await settle(ours.place);
  note('jackin-snap', ours.place);
  await ours.measured(['gc']);
  note(afterGc, ours.place);
  if (git !== undefined) {
    await git.measured(['gc', '--quiet']);
    note('git', git.place);
  }
  if (restic !== undefined) note('restic', join(restic.place, 'repo'));
}
