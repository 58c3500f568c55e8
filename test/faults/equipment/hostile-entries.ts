import type { Random } from '../../support/random.js';
import type { CraftedStore, Raw } from './crafted-store.js';

const badNames = (outside: string): string[] => [
  ...['..', '.', '', 'a/b', '/etc/x', '../../evil', '.git', '.GIT', 'git~1', '.git ', '.g\xe2\x80\x8cit', 'GIT~1'],
  ...['..\\..\\evil', 'C:\\evil', '\x1b]0;evil\x07', '\n', '\r\n', '-rf', '--output=x', ':(top)x', '%2e%2e', '%2egit'],
  ...['%20', '%2e', '\xff\xfe', '\xe2\x80\xae', ' ', 'con', 'nul', 'x'.repeat(256), 'y'.repeat(5000), '~', '$(id)'],
  ...['.gitmodules', '.gitattributes', '.jackin-x-1', `${outside}/d/e/one`, '\x00'.slice(1), 'a\tb', '.', '...'],
];
const modes = ['100644', '100755', '120000', '40000', '040000', '160000', '100777', '104755', '0', '10644', '140000'];

/** An object of some kind that a tree of some mode may name, rightly or wrongly. */
export function someObject(store: CraftedStore, random: Random, outside: string): string {
  return random.pick<() => string>([
    () => store.sound(':mounts/m/top'),
    () => store.sound(':mounts/m/d'),
    () => store.sound(''),
    () => '0'.repeat(40),
    () => 'f'.repeat(40),
    () =>
      store.write(
        'blob',
        random.pick([outside, '../outside', '/etc', `${outside}/d`, '.', '..', 'x'.repeat(5000), '\0']),
      ),
    () => store.tree([{ mode: '100644', name: 'evil', oid: store.sound(':mounts/m/top') }]),
    () => store.tree([]),
  ])();
}

export function someEntries(store: CraftedStore, random: Random, outside: string): Raw[] {
  return Array.from({ length: 1 + random.below(4) }, () => ({
    mode: random.pick(modes),
    name: random.oneIn(2) ? random.pick(badNames(outside)) : random.pick(['a', 'd', 'top', 'e', 'x']),
    oid: someObject(store, random, outside),
  }));
}
