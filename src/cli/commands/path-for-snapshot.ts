import { shellWord } from '../../core/command-text.js';
import { HintedError } from '../usage-error.js';

/**
 * Does something with the snapshots that were named. Where a word is none, it may be a path that was meant: the error
 * shows how one is written.
 * @param form the command line with the word as a path
 */
export async function orPathWasMeant<T>(form: (word: string) => string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { isSnapError } = await import('../library.js');
    if (!isSnapError(error, 'SNAPSHOT_NOT_FOUND') || isSnapshotWord(error.data.selector)) throw error;
    const { instance, selector } = error.data;
    throw new HintedError(
      error,
      (next) =>
        `See what there is: ${next('list', instance || undefined)}; if it is a path: ${next(form(shellWord(selector)))}`,
    );
  }
}

/** What nobody writes for a path. */
function isSnapshotWord(word: string): boolean {
  return /^([0-9]+|first|latest(~[0-9]+)?|refs\/.*|.*\/[0-9]+)$/.test(word);
}
