import { type EntrySpec, type TreeSpec, directory, file, hardLink, symlink } from '../support/tree-plan.js';

/** What a path may be, each in a few entries below one name. */
export const forms: Readonly<Record<string, (name: string) => TreeSpec>> = {
  absent: () => [],
  'a file': (name) => [file(name, 'one\n')],
  'a file of other content': (name) => [file(name, 'two\n')],
  'a file of another mode': (name) => [file(name, 'one\n', 0o4711)],
  'a symlink': (name) => [symlink(name, 'one')],
  'another symlink': (name) => [symlink(name, '../\xff\n')],
  'an empty folder': (name) => [directory(name)],
  'a full folder': (name) => [directory(name, 0o711), file(`${name}/in/side`, 'x'), symlink(`${name}/link`, 'in/side')],
  'a read-only folder': (name) => [directory(name, 0o555), file(`${name}/f`, 'y', 0o444)],
};

/** Folders that change in more than one place at once. */
export const scenes: readonly { readonly what: string; readonly then: TreeSpec; readonly now: TreeSpec }[] = [
  {
    what: 'files of every kind of change',
    then: [file('a', 'A'), file('b', 'B', 0o600), file('c', 'C', 0o755), symlink('e', 'x')],
    now: [file('b', 'B', 0o644), file('c', 'CC', 0o755), file('d', 'D'), symlink('e', 'y')],
  },
  {
    what: 'a folder becomes a file, a file becomes a folder',
    then: [file('x', 'X'), file('y/deep/f', 'F'), symlink('y/l', 'z')],
    now: [file('x/deep/f', 'F'), symlink('x/l', 'z'), directory('x/e', 0o700), file('y', 'Y')],
  },
  {
    what: 'a folder becomes a link to its old place, and back',
    then: [directory('d'), file('d/f', 'F'), symlink('l', 'd')],
    now: [symlink('d', 'l'), directory('l', 0o750), file('l/f', 'F')],
  },
  {
    what: 'link groups are joined',
    then: [file('a', 'A', 0o4755), hardLink('b', 'a'), hardLink('d/c', 'a'), symlink('s', 't'), hardLink('s2', 's')],
    now: [file('a', 'A', 0o4755), file('b', 'A'), file('d/c', 'C'), symlink('s', 't'), symlink('s2', 't')],
  },
  {
    what: 'link groups are parted',
    then: [file('a', 'A'), file('b', 'A'), file('c', 'C')],
    now: [file('a', 'A'), hardLink('b', 'a'), hardLink('c', 'a'), hardLink('d', 'a')],
  },
  {
    what: 'link groups are regrouped',
    then: [file('a', '1'), hardLink('b', 'a'), file('c', '2'), hardLink('d', 'c')],
    now: [file('a', '2'), hardLink('c', 'a'), file('b', '1'), hardLink('d', 'b')],
  },
  {
    what: 'a mode reaches all names of a group',
    then: [file('a', 'A', 0o600), hardLink('b', 'a')],
    now: [file('a', 'A', 0o644), hardLink('b', 'a')],
  },
  {
    what: 'modes of folders, the last word',
    then: [directory('d', 0o500), file('d/f', 'F'), directory('e', 0o2755), directory('e/g', 0o1777)],
    now: [directory('d', 0o755), directory('e', 0o555), file('e/f', 'F'), directory('e/g', 0o555)],
  },
  {
    what: 'names of any bytes',
    then: [file('\xff\n', 'A'), file('-rf', 'B'), directory('caf\xe9')],
    now: [file('\xff\n', 'B'), directory('-rf'), file('caf\xe9', 'x')],
  },
  {
    what: 'holes',
    then: [
      file('s', { size: 300_000, pieces: [{ at: 200_000, bytes: 'x' }] }, 0o4755),
      file('z', { size: 200_000, pieces: [] }),
    ],
    now: [file('s', 'small')],
  },
];

/** Every form then beside every form now, each pair under a name of its own. */
export function allPairs(): { then: EntrySpec[]; now: EntrySpec[] } {
  const names = Object.keys(forms);
  const tree = (pick: (then: string, now: string) => string): EntrySpec[] =>
    names.flatMap((then, a) => names.flatMap((now, b) => forms[pick(then, now)]!(`p${a}${b}`)));
  return { then: tree((then) => then), now: tree((_, now) => now) };
}
