import { expect, test } from 'vitest';
import type { MountSummary } from '../../src/core/results.js';
import { movedHeads } from '../../src/operations/run/moved-heads.js';

const mount = (baseCommit: string | null, branch: string | null, name = 'work'): MountSummary =>
  ({ name, baseCommit, branch }) as MountSummary;
const [one, two] = ['1'.repeat(40), '2'.repeat(40)];

test.each([
  { what: 'is where it was', before: [mount(one, 'main')], after: [mount(one, 'main')], said: [] },
  { what: 'was none', before: [mount(null, null)], after: [mount(two, 'main')], said: [] },
  { what: 'was not seen before', before: [mount(one, 'main', 'other')], after: [mount(two, 'main')], said: [] },
  {
    what: 'has another commit',
    before: [mount(one, 'main')],
    after: [mount(two, 'main')],
    said: [/main at 1{12} before, main at 2{12} now/],
  },
  {
    what: 'is on another branch',
    before: [mount(one, 'main')],
    after: [mount(one, 'topic')],
    said: [/main at .* topic at/],
  },
  { what: 'is on none', before: [mount(one, 'main')], after: [mount(one, null)], said: [/detached at/] },
  { what: 'is gone', before: [mount(one, 'main')], after: [mount(null, null)], said: [/cannot be made out any more/] },
])('what a run says of a repository that $what', ({ before, after, said }) => {
  expect(movedHeads(before, after)).toEqual(said.map((words) => expect.stringMatching(words) as string));
});
