import type { Mutant } from './mutant.js';

const oversized = ['core/tree-size.test.ts'];
const oversizedTrees = ['acceptance/oversized-trees.test.ts'];
const packedRefs = ['acceptance/damaged-packed-refs.test.ts'];
const writers = ['acceptance/run-worktree-writers.test.ts'];
const closing = ['acceptance/closing-snapshots.test.ts'];
const content = ['acceptance/damaged-content.test.ts'];
const drills = ['acceptance/drill.test.ts'];

/** What is told of a store that is not as it should be, what is mended, and what goes with a worktree. */
export const mutantsOfMending: readonly Mutant[] = [
  {
    name: 'any number of files that trees stand for is believed',
    file: 'core/tree-size.ts',
    find: 'if (ends > files + endsBelieved && ends > files + endsBelieved + 100 * distinct()) return true;',
    replace: '',
    tests: oversized,
  },
  {
    name: 'a number of files that the snapshot tells is enough',
    file: 'core/tree-size.ts',
    find: 'return entries > entriesDoubted && entries > 1000 * distinct();',
    replace: 'return false;',
    tests: oversized,
  },
  {
    name: 'paths of any length together are listed',
    file: 'core/tree-size.ts',
    find: ' || pathBytes > pathBytesAtMost',
    replace: '',
    tests: oversized,
  },
  {
    name: 'a snapshot that is complete is intact, whatever its trees stand for',
    file: 'git/connectivity.ts',
    find: 'const found = whole.filter((commit) => !oversized.has(commit));',
    replace: 'const found = whole;',
    tests: oversizedTrees,
  },
  {
    name: 'what garbage collection found complete is intact',
    file: 'git/connectivity.ts',
    find: 'commits.filter((commit) => !before.has(commit)),',
    replace: '[],',
    tests: oversizedTrees,
  },
  {
    name: 'a snapshot is compared whatever its trees stand for',
    file: 'operations/look/diff.ts',
    find: 'await refuseOversized(context, [from.ref, to.ref]);',
    replace: '',
    tests: oversizedTrees,
  },
  {
    name: 'a pin proves nothing',
    file: 'operations/check/lost-pinned.ts',
    find: 'if (names.has(ref) || pin !== pinRefName(name, seq)) return [];',
    replace: 'return [];',
    tests: packedRefs,
  },
  {
    name: 'packed refs that end at the end of a line are whole',
    file: 'git/packed-refs.ts',
    find: 'text?.includes(` ${noted}\\n`) === true) return damage;',
    replace: "text?.includes('') === true) return damage;",
    tests: packedRefs,
  },
  {
    name: 'where packed refs end is known although that ref is deleted',
    file: 'git/packed-refs.ts',
    find: 'if (last !== undefined && names.includes(last)) forget(storeDirectory);',
    replace: '',
    tests: packedRefs,
  },
  {
    name: 'packed refs that were cut count as whole before what they lost is back',
    file: 'git/packed-refs.ts',
    find: "${lines.join('')}`, 'latin1'));\n",
    replace: "${lines.join('')}`, 'latin1'));\n  noteLastPacked(storeDirectory);\n",
    tests: ['git/packed-refs.test.ts'],
  },
  {
    name: 'commits that could not be looked at are none',
    file: 'git/lost-refs.ts',
    find: "await ifSound(reader.find(oid, 'commit'))",
    replace: "await ifSound(reader.find(oid, 'commit').catch(() => undefined))",
    tests: ['acceptance/told-in-spite.test.ts'],
  },
  {
    name: 'numbers whose refs are moved are not noted as used',
    file: 'operations/keep/collect-garbage.ts',
    find: '    noteHighestNumbers(context);\n',
    replace: '',
    tests: packedRefs,
  },
  {
    name: 'the snapshot before a worktree goes holds what the others do',
    file: 'operations/worktree/closing-snapshot.ts',
    find: "policy.snapshot === 'metadata' ? 'project' : policy.snapshot",
    replace: 'policy.snapshot',
    tests: closing,
  },
  {
    name: 'what an instance excludes goes with its worktree',
    file: 'operations/worktree/closing-snapshot.ts',
    find: 'exclude: [], ',
    replace: '',
    tests: closing,
  },
  {
    name: 'a worktree goes with what came since its snapshot',
    file: 'operations/worktree/removal-proof.ts',
    find: 'return isStored(path, hashOf(context, directory, name));',
    replace: 'return true;',
    tests: writers,
  },
  {
    name: 'what is damaged is not written again',
    file: 'git/check/damaged-objects.ts',
    find: "return { has: (id) => !wanted.has(id.toString('hex') as ObjectId) };",
    replace: 'return { has: () => wanted.size >= 0 };',
    tests: content,
  },
  {
    name: 'a check of the content notes nothing',
    file: 'git/check/content.ts',
    find: 'noteDamage(git.settings.dataDir, [...noted, ...unreadable.keys()]);',
    replace: '',
    tests: content,
  },
  {
    name: 'the folder of a drill that works is removed by others',
    file: 'operations/check/drill-folder.ts',
    find: '.filter(({ owner }) => activeOwner(owner, context.processes) === null);',
    replace: ';',
    tests: drills,
  },
];
