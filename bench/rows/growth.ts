import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Line } from '../report/growth-plot.js';
import { drawGrowth } from '../report/growth-plot.js';
import type { Session } from '../session.js';
import { smallFiles } from './inputs.js';
import { measureTree } from './tree-rows.js';

/** How the first save and one in which nothing changed grow with the number of files, ours and git's, and a drawing. */
export async function measureGrowth(session: Session): Promise<void> {
  const peers = session.peers.tools.filter(({ name }) => name === 'git');
  for (const files of session.sizes.growth) {
    const runs = files > 100_000 ? { slowRuns: 1, quickRuns: 3 } : { slowRuns: 3, quickRuns: 5 };
    const plan = { rows: ['first-save', 'nothing-changed'], peers, ...runs } as const;
    await measureTree(session, smallFiles(session, String(files), files), plan);
  }
  const plot = session.settings.plot ?? join(session.root, 'docs/performance-growth.svg');
  writeFileSync(plot, drawGrowth(linesOf(session)));
}

function linesOf({ results, sizes }: Session): Line[] {
  const tools = [
    { tool: 'jackin-snap', ours: true },
    { tool: 'git', ours: false },
  ];
  const rows = [
    { row: 'first-save', label: 'first save' },
    { row: 'nothing-changed', label: 'nothing changed' },
  ];
  return rows.flatMap(({ row, label }) =>
    tools.map(({ tool, ours }) => ({
      label: `${tool}, ${label}`,
      ours,
      dashed: row === 'nothing-changed',
      points: sizes.growth.flatMap((files) => {
        const seconds = results.seconds(row, String(files), tool);
        return seconds === undefined ? [] : [{ files, seconds }];
      }),
    })),
  );
}
