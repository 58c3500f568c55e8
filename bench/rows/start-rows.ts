import type { Measured } from '../command.js';
import { measure } from '../command.js';
import type { Session } from '../session.js';
import { snapCommand } from '../tools/jackin-snap.js';
import { noteRun } from './scene.js';

/** How long Node takes to start and do nothing: what no command of ours can go below. */
export async function startOfNode({ surroundings: { env } }: Session): Promise<Measured> {
  return await measure({ program: process.execPath, arguments: ['-e', '0'], cwd: '/', env });
}

export async function measureStart(session: Session): Promise<void> {
  if (!session.wants('start-up')) return;
  for (let round = 0; round < session.runs(21); round++) {
    noteRun(session, 'start-up', '', 'node -e 0', await startOfNode(session));
    for (const option of ['--version', '--help']) {
      noteRun(session, 'start-up', '', option, await measure(snapCommand(session.surroundings, [option])));
    }
  }
}
