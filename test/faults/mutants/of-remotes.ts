import type { Mutant } from './mutant.js';

const address = ['core/remote/address.test.ts'];
const report = ['core/remote/report.test.ts'];
const network = ['git/network.test.ts'];
const localRepository = ['git/local-repository.test.ts'];
const hostile = ['acceptance/fetch-hostile.test.ts'];

/** What may be a remote, what git gets to reach it, and what of it is believed. */
export const mutantsOfRemotes: readonly Mutant[] = [
  {
    name: 'a remote that names a helper program is taken',
    file: 'core/remote/address.ts',
    find: "  if (/^[A-Za-z0-9+.-]*::/.test(text)) return 'it names a helper program';\n",
    replace: '',
    tests: address,
  },
  {
    name: 'the host of a remote may be an option',
    file: 'core/remote/address.ts',
    find: "if (host.startsWith('-') || user.startsWith('-'))",
    replace: 'if (host === user)',
    tests: address,
  },
  {
    name: 'a password of a URL is shown',
    file: 'core/remote/address.ts',
    find: 'if (isWeb) return `${mask}@`;',
    replace: '',
    tests: address,
  },
  {
    name: 'histories of two instances are mixed',
    file: 'core/remote/histories.ts',
    find: 'else if (mixed.has(snapshot.instance))',
    replace: 'else if (mixed.size < 0)',
    tests: report,
  },
  {
    name: 'a ref that was moved counts as pushed',
    file: 'core/remote/report.ts',
    find: "outcomes[flag] ?? 'rejected'",
    replace: "outcomes[flag] ?? 'created'",
    tests: report,
  },
  {
    name: 'git may be led to any protocol',
    file: 'git/remote/network.ts',
    find: '      GIT_ALLOW_PROTOCOL: address.protocol,\n',
    replace: '',
    tests: network,
  },
  {
    name: 'hooks of a local remote are run',
    file: 'git/remote/network.ts',
    find: "'core.hooksPath=/dev/null', ",
    replace: '',
    tests: [...network, ...hostile],
  },
  {
    name: 'an ssh of a mount is run',
    file: 'git/remote/network.ts',
    find: "const path = programs.findIfThere('ssh');",
    replace: "const path = programs.isForbidden('') ? undefined : 'ssh';",
    tests: network,
  },
  {
    name: "a linked worktree's settings are those of a remote",
    file: 'git/remote/local-repository.ts',
    find: '!== true || look(`${path}/commondir`) !== undefined',
    replace: '!== true',
    tests: localRepository,
  },
  {
    name: 'a .git file leads a remote into a mount',
    file: 'git/remote/local-repository.ts',
    find: 'if (detour !== undefined) return { detour };',
    replace: '',
    tests: localRepository,
  },
  {
    name: 'what a remote reads may be in a mount',
    file: 'operations/remote/choose-remote.ts',
    find: '[found.directory, ...found.reads]',
    replace: '[found.directory]',
    tests: ['acceptance/remote-access.test.ts'],
  },
  {
    name: 'a commit that came may have a parent',
    file: 'operations/remote/examine.ts',
    find: 'if (!expected.equals(content)) throw',
    replace: 'if (expected.length > content.length) throw',
    tests: hostile,
  },
  {
    name: 'the tree of a snapshot that came may hold more',
    file: 'operations/remote/examine.ts',
    find: '    await this.#refuseOddLayout(ref, names);\n',
    replace: '',
    tests: hostile,
  },
  {
    name: 'protected commits that came may lack what they lead to',
    file: 'operations/remote/examine-git-state.ts',
    find: 'const gap = await check.gapIn(state, await this.#listed(folder.oid));',
    replace: 'const gap = (await this.#listed(folder.oid)).blobs.has(folder.oid) ? String(check) : undefined;',
    tests: ['acceptance/fetch-git-state.test.ts'],
  },
  {
    name: 'what is kept under the id of another object is taken for it',
    file: 'git/user-repo/check-git-state.ts',
    find: 'if (hashObject(type, content) !== oid) throw',
    replace: 'if (content.length > objectAtMost) throw',
    tests: ['acceptance/fetch-git-state.test.ts'],
  },
  {
    name: 'retention counts what was fetched',
    file: 'core/retention.ts',
    find: 'inOrder(snapshots).filter(({ fetched }) => !fetched);',
    replace: 'inOrder(snapshots);',
    tests: ['core/retention.test.ts'],
  },
  {
    name: 'all that came becomes part of the store',
    file: 'git/remote/quarantine.ts',
    find: "input: commits.map((commit) => `${commit}\\n`).join(''),",
    replace: "input: '--all\\n',",
    tests: hostile,
  },
  {
    name: 'as much comes as a remote sends',
    file: 'git/remote/quarantine.ts',
    find: '  watch.refuseOver(remote);\n',
    replace: '',
    tests: hostile,
  },
];
