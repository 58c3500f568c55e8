import { expect, test } from 'vitest';

import { keptWords } from '../../src/cli/views/kept-words.js';

test.each([
  { reason: 'not_permitted', said: 'not permitted' },
  { reason: 'changed_meanwhile', said: 'changed meanwhile' },
  { reason: 'new_repository', said: 'a repository that the snapshot does not have' },
  { reason: 'no_delete', said: 'nothing is to be deleted' },
  { reason: 'too_large', said: 'too large' },
  { reason: 'a lock is held', said: 'a lock is held' },
])('a path that stays for $reason is told as "$said"', ({ reason, said }) => {
  expect(keptWords(reason)).toBe(said);
});
