import { randomFrom } from '../../support/random.js';
import type { EntrySpec, TreeSpec } from '../../support/tree-plan.js';
import { directory, file, hardLink, symlink } from '../../support/tree-plan.js';

/** What a mount holds when it is saved, and when it is restored. */
export interface Trees {
  readonly then: TreeSpec;
  readonly now: TreeSpec;
}

interface Change {
  readonly then?: readonly EntrySpec[];
  readonly now?: readonly EntrySpec[];
}

/** Every kind of change at least once with variant 0; of other variants some, with other contents. */
export function treesOf(variant: number): Trees {
  const random = randomFrom(variant);
  const chosen = changes(variant).filter((_, at) => at === 0 || variant === 0 || !random.oneIn(3));
  return { then: chosen.flatMap(({ then = [] }) => then), now: chosen.flatMap(({ now = [] }) => now) };
}

/** So many new files that a restore of `then` writes them beside their places first. */
export function manyFiles(): Trees {
  const lost = Array.from({ length: 260 }, (_, at) => file(`lost/${at % 5}/file ${at}`, `lost ${at}`));
  const both = [file('kept', 'v')];
  return {
    then: [...both, ...lost, file('kept folder/edited', 'v1')],
    now: [...both, file('kept folder/edited', 'v2'), file('kept folder/new', 'new')],
  };
}

const changes = (variant: number): Change[] => {
  const text = (what: string): string => `${what} ${variant}\n`.repeat(1 + (variant % 7) * 40);
  return [
    { then: [file('edited', text('v1'))], now: [file('edited', text('v2'))] },
    { then: [file('as it was', text('same'))], now: [file('as it was', text('same'))] },
    { then: [file('mode', 'same', 0o640)], now: [file('mode', 'same', 0o600)] },
    { then: [file('set-id', 'v1', 0o4755)], now: [file('set-id', 'v2', 0o755)] },
    { then: [file('gone', text('v1'), 0o600)] },
    { then: [directory('lost/empty', 0o711), file('lost/deep/file', text('lost'), 0o755)] },
    { then: [symlink('link', 'edited')], now: [symlink('link', 'elsewhere')] },
    { then: [symlink('link-lost', 'nowhere')] },
    {
      then: [file('file-now-folder', text('v1'))],
      now: [file('file-now-folder/sub/in', 'v2'), file('file-now-folder/other', 'v2')],
    },
    {
      then: [directory('folder-now-file', 0o750), file('folder-now-file/in', 'v1')],
      now: [file('folder-now-file', text('v2'), 0o600)],
    },
    { then: [symlink('link-now-folder', 'edited')], now: [file('link-now-folder/in', 'v2')] },
    { then: [file('folder-now-link/in', 'v1')], now: [symlink('folder-now-link', 'edited')] },
    { then: [symlink('link-now-file', 'edited')], now: [file('link-now-file', 'v2')] },
    { then: [file('file-now-link', 'v1')], now: [symlink('file-now-link', 'edited')] },
    { then: [file('pair/a', 'pair'), hardLink('pair/b', 'pair/a')], now: [file('pair/a', 'a'), file('pair/b', 'b')] },
    {
      then: [file('read-only/edited', 'v1', 0o444), file('read-only/gone', 'v1'), directory('read-only', 0o555)],
      now: [file('read-only/edited', 'v2'), file('read-only/new', 'new'), directory('read-only', 0o555)],
    },
    { then: [directory('modes', 0o2750)], now: [directory('modes', 0o700)] },
    { now: [file('new/sub/file', text('new')), directory('new/empty', 0o500)] },
  ];
};
