import { describe, expect, test } from 'vitest';

import type { StoredEntry } from '../../src/core/entry.js';
import type { EntryPath } from '../../src/core/entry-path.js';
import type { MountPlan } from '../../src/core/restore-plan.js';
import { type States, planLines, planOf, tree } from './plan-scene.js';

const names = ['a', 'b', 'c'] as const;
const looks = ['A 0644', 'A 0600', 'B 0644'] as const;

/** Every way in which the names may be absent or share inodes, and every look of those inodes. */
function allStates(): States[] {
  const states: States[] = [];
  const place = (at: number, inodes: readonly (readonly string[])[]): void => {
    const name = names[at];
    if (name === undefined) {
      for (const chosen of combinations(inodes.length)) states.push(describeInodes(inodes, chosen));
      return;
    }
    place(at + 1, inodes);
    inodes.forEach((_, joined) =>
      place(
        at + 1,
        inodes.map((members, inode) => (inode === joined ? [...members, name] : members)),
      ),
    );
    place(at + 1, [...inodes, [name]]);
  };
  place(0, []);
  return states;
}

function combinations(count: number): string[][] {
  if (count === 0) return [[]];
  return combinations(count - 1).flatMap((before) => looks.map((look) => [...before, look]));
}

function describeInodes(inodes: readonly (readonly string[])[], chosen: readonly string[]): States {
  return Object.fromEntries(
    inodes.flatMap((members, inode) =>
      members.map((name) => [name, `file ${chosen[inode]!}${members.length > 1 ? ` = ${members[0]!}` : ''}`]),
    ),
  );
}

/** Files as a file system has them: names lead to inodes, and a change of mode reaches every name. */
class Inodes {
  readonly #byName = new Map<string, { content: string; mode: number }>();

  constructor(states: States) {
    const groups = new Map<string, { content: string; mode: number }>();
    for (const entry of tree(states).values()) {
      if (entry.kind !== 'file') continue;
      const first = entry.linkedTo ?? entry.path;
      const inode = groups.get(first) ?? { content: entry.oid, mode: entry.mode };
      groups.set(first, inode);
      this.#byName.set(entry.path, inode);
    }
  }

  /** As the plan is carried out: what goes first, then what comes, in path order. */
  apply({ changes }: MountPlan): this {
    for (const { path, after } of changes) if (after === null) this.#byName.delete(path);
    for (const { path, action, after } of changes) {
      if (after?.kind !== 'file') continue;
      if (action === 'chmod') this.#byName.get(path)!.mode = after.mode;
      else this.#byName.set(path, this.#firstOf(after) ?? { content: after.oid, mode: after.mode });
    }
    return this;
  }

  #firstOf({
    path,
    linkedTo,
    mode,
    oid,
  }: StoredEntry & { kind: 'file' }): { content: string; mode: number } | undefined {
    if (linkedTo === undefined || linkedTo === path) return undefined;
    const first = this.#byName.get(linkedTo);
    return first?.mode === mode && first.content === oid ? first : undefined;
  }

  show(): string[] {
    const seen = [...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1));
    return seen.map(([name, inode]) => {
      const names = seen.filter(([, other]) => other === inode).map(([other]) => other);
      return `${name} ${inode.content.slice(0, 1)} ${inode.mode.toString(8)} [${names.join()}]`;
    });
  }
}

/** The live names whose inode does not belong to just the group that they had then. */
function sharedNames(then: States, now: States): string[] {
  const wanted = tree(then);
  const live = tree(now);
  const groupOf = (entries: ReadonlyMap<EntryPath, StoredEntry>, path: string): EntryPath | undefined => {
    const entry = entries.get(path as EntryPath);
    return entry === undefined || entry.kind === 'directory' ? undefined : entry.linkedTo;
  };
  return names.filter((name) => {
    const group = groupOf(live, name);
    const members = names.filter((other) => group !== undefined && groupOf(live, other) === group);
    const then = groupOf(wanted, name);
    return members.some((member) => then === undefined || groupOf(wanted, member) !== then);
  });
}

const states = allStates();

describe('hard-link groups', () => {
  test('of three names come back from whatever the names are now, in every combination', () => {
    expect(states).toHaveLength(103);
    const wrong: unknown[] = [];
    for (const then of states)
      for (const now of states) {
        const plan = planOf({ then, now, shared: sharedNames(then, now) });
        const got = new Inodes(now).apply(plan).show();
        const want = new Inodes(then).show();
        if (got.join() !== want.join()) wrong.push({ then, now, got, want });
      }
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  test('that are as they were are left alone', () => {
    for (const state of states) expect(planLines({ then: state, now: state })).toEqual([]);
  });

  test('limited to one name: it has its content, and nothing happens to the others', () => {
    const wrong: unknown[] = [];
    for (const then of states)
      for (const now of states)
        for (const scope of names) {
          const shared = names.filter((name) => now[name]?.includes('=') ?? false);
          const plan = planOf({ then, now, scope: [scope], shared });
          const others = (lines: string[]): string =>
            lines
              .filter((line) => !line.startsWith(scope))
              .map((line) => line.replace(/ \[.*/, ''))
              .join();
          const own = (lines: string[]): string | undefined =>
            lines.find((line) => line.startsWith(scope))?.replace(/ \[.*/, '');
          const before = others(new Inodes(now).show());
          const got = new Inodes(now).apply(plan).show();
          if (before !== others(got) || own(new Inodes(then).show()) !== own(got))
            wrong.push({ then, now, scope, got });
        }
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  test.each([
    { what: 'a link that was cut is made again', then: ['a', 'b'], now: [], plan: ['overwrite b'] },
    { what: 'a link that was made is cut', then: [], now: ['a', 'b'], plan: ['overwrite a', 'overwrite b'] },
    {
      what: 'a name that joined the group is parted from it',
      then: ['a', 'b'],
      now: ['a', 'b', 'c'],
      plan: ['overwrite a', 'overwrite b', 'overwrite c'],
    },
    { what: 'a name that left the group joins it', then: ['a', 'b', 'c'], now: ['a', 'b'], plan: ['overwrite c'] },
    {
      what: 'the first name left the group',
      then: ['a', 'b', 'c'],
      now: ['b', 'c'],
      plan: ['overwrite b', 'overwrite c'],
    },
  ])('$what', ({ then, now, plan }) => {
    const states = (group: readonly string[]): States =>
      Object.fromEntries(names.map((name) => [name, group.includes(name) ? `file A = ${group[0]!}` : 'file A']));
    expect(planLines({ then: states(then), now: states(now) })).toEqual(plan);
  });

  test.each([
    {
      what: 'symlinks are linked again',
      then: { a: 'link A = a', b: 'link A = a' },
      now: { a: 'link A', b: 'link A' },
      plan: ['overwrite b'],
    },
    {
      what: 'a new name of a group goes, its file stays',
      then: { a: 'file A' },
      now: { a: 'file A = a', x: 'file A = a' },
      plan: ['overwrite a', 'delete x'],
    },
    {
      what: 'a group in other folders',
      then: { 'd/a': 'file A = d/a', 'e/b': 'file A = d/a' },
      now: { 'e/b': 'file A' },
      plan: ['create d', 'create d/a', 'overwrite e/b'],
    },
  ])('$what', ({ then, now, plan }) => {
    expect(planLines({ then, now })).toEqual(plan);
  });

  test.each<{ what: string; now: States; plan: string[] }>([
    { what: 'the others are linked to each other', now: { b: 'file A', c: 'file A' }, plan: ['overwrite c'] },
    { what: 'which is done once', now: { b: 'file A = b', c: 'file A = b' }, plan: [] },
    {
      what: 'and cut from strangers',
      now: { b: 'file A = b', x: 'file A = b' },
      plan: ['overwrite b', 'create c', 'delete x'],
    },
  ])('where the first path of a group cannot be put back, $what', ({ now, plan }) => {
    const then = { a: 'file A = a', b: 'file A = a', c: 'file A = a' };
    const lines = planLines({ then, now, nowOut: { a: 'special' } });
    expect(lines.filter((line) => !line.startsWith('block a'))).toEqual(plan);
    expect(lines).toHaveLength(plan.length + 1);
  });
});
