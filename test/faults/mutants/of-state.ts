import type { Mutant } from './mutant.js';

const restored = ['acceptance/state-restored.test.ts'];
const leaves = ['operations/fit-to-leave.test.ts', 'acceptance/state-leaves.test.ts'];

/** What of a session's state is stored, and what of it leaves the store and to where. */
export const mutantsOfState: readonly Mutant[] = [
  {
    name: 'a text turns its scanner off',
    file: 'scan/secret-scanner.ts',
    find: 'meta.id !== byComments',
    replace: 'meta.id !== preset',
    tests: ['scan/secret-scanner.test.ts'],
  },
  {
    name: 'a login is state where its name is in capitals',
    file: 'core/jackin/state-paths.ts',
    find: 'const name = baseName(path).toLowerCase();',
    replace: 'const name: string = baseName(path);',
    tests: ['core/jackin/state-paths.test.ts'],
  },
  {
    name: 'what could not be scanned is stored',
    file: 'operations/capture/state/scanned-tree.ts',
    find: "    return 'unsupported';\n  }\n}",
    replace: '    return null;\n  }\n}',
    tests: leaves,
  },
  {
    name: 'state is written below the data of jackin',
    file: 'operations/state/jackins-own.ts',
    find: "data !== '/' && liesIn(context, place, data)",
    replace: 'data === place',
    tests: restored,
  },
  {
    name: 'state leaves the store unseen',
    file: 'operations/state/state-to-leave.ts',
    find: 'name === manifest.state?.name ? await fitToLeave',
    replace: 'name === manifest.format ? await fitToLeave',
    tests: leaves,
  },
  {
    name: 'a hard link takes a login along',
    file: 'operations/state/fit-to-leave.ts',
    find: 'return withheld.get(entry.linkedTo) ?? null;',
    replace: 'return withheld.get(entry.path) ?? null;',
    tests: leaves,
  },
  {
    name: 'an export has state that nobody asked for',
    file: 'operations/export.ts',
    find: '{ state = false }: ExportRequest = {}',
    replace: '{ state = true }: ExportRequest = {}',
    tests: leaves,
  },
];
