import { shown } from './format.js';
import { reasonWords } from './text-save.js';

/** Why a restore left a path as it is, in words; a reason that is words already stays. */
export function keptWords(reason: string): string {
  return known.get(reason) ?? shown(reason);
}

const known: ReadonlyMap<string, string> = new Map([
  ...Object.entries(reasonWords),
  ['new_repository', 'a repository that the snapshot does not have'],
  ['not_proven_new', 'the snapshot does not prove that it was not there'],
  ['no_delete', 'nothing is to be deleted'],
  ['changed_meanwhile', 'changed meanwhile'],
  ['not_empty', 'the folder is not empty'],
  ['not_permitted', 'not permitted'],
  ['busy', 'in use'],
  ['not_possible_here', 'not possible on this file system'],
  ['temporary_left', 'a temporary file that could not be removed'],
  ['verification_failed', 'not as it was saved'],
]);
