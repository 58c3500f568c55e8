import { describe, expect, test } from 'vitest';

import { type Caller, maySetOwner } from '../../src/core/caller.js';

const ordinary: Caller = {
  uid: 1000,
  gid: 1000,
  groups: new Set([1000, 27, 65_534]),
  mayGiveAway: false,
  hasUid: (uid) => uid < 65_000,
  hasGid: (gid) => gid < 65_000,
};
const privileged: Caller = { ...ordinary, uid: 0, gid: 0, groups: new Set([0]), mayGiveAway: true };

describe('the owner of a file', () => {
  test.each([
    { what: 'is given to another by no ordinary user', caller: ordinary, to: [7, 1000], may: false },
    { what: 'is not taken from another', caller: ordinary, from: [0, 1000], to: [1000, 1000], may: false },
    { what: 'may become that of a group that the user is in', caller: ordinary, to: [1000, 27], may: true },
    { what: 'may not become that of another group', caller: ordinary, to: [1000, 28], may: false },
    {
      what: 'may stay that of a group that the user is not in',
      caller: ordinary,
      from: [1000, 28],
      to: [1000, 28],
      may: true,
    },
    { what: 'may not become that of a group without an id here', caller: ordinary, to: [1000, 65_534], may: false },
    { what: "of somebody else gets no group of the user's", caller: ordinary, from: [0, 0], to: [0, 27], may: false },
    { what: 'is given away by who is privileged', caller: privileged, to: [7, 8], may: true },
    { what: 'is not given to an id that does not exist here', caller: privileged, to: [66_000, 0], may: false },
    { what: 'is not given to a group that does not exist here', caller: privileged, to: [0, 66_000], may: false },
    {
      what: 'is not taken from an id that does not exist here',
      caller: privileged,
      from: [65_534, 0],
      to: [0, 0],
      may: false,
    },
  ])('$what', ({ caller, from = [1000, 1000], to, may }) => {
    const owner = ([uid = 0, gid = 0]: readonly number[]) => ({ uid, gid });
    expect(maySetOwner(caller, owner(from), owner(to))).toBe(may);
  });
});
