import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { definePinning } from './pin.js';

export function define(command: Command, session: Session): void {
  definePinning(command, session, false);
  addNotes(command, {
    about: 'Leave a pinned snapshot to prune again.',
    examples: [['unpin 3', 'number 3']],
    exits: [0, 3, 8],
  });
}
