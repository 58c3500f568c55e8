import type { Mutant } from './mutant.js';

const apply = ['operations/apply.test.ts', 'operations/apply-together.test.ts', 'operations/apply-meanwhile.test.ts'];
const together = ['operations/apply-together.test.ts'];
const ownFailures = ['operations/restore/own-failures.test.ts'];
const doneJournal = ['operations/restore/done-journal.test.ts'];
const meanwhile = ['operations/apply-meanwhile.test.ts', 'operations/apply-together.test.ts'];
const pending = ['operations/pending.test.ts'];
const interrupted = ['acceptance/restore-pending.test.ts'];
const steps = ['acceptance/restore-steps.test.ts'];

/** How a restore changes a mount. */
export const mutantsOfApplying: readonly Mutant[] = [
  {
    name: 'lent permission is not written down',
    file: 'operations/restore/mount-writer.ts',
    find: '      this.#onLend(path, mode);\n',
    replace: '',
    tests: apply,
  },
  {
    name: 'lent permission is not given back',
    file: 'operations/restore/mount-writer.ts',
    find: '      this.#giveBack();\n',
    replace: '',
    tests: apply,
  },
  {
    name: 'permission that a killed run lent is not given back',
    file: 'operations/restore/mount-writer.ts',
    find: 'this.#lent = new Map(lentBefore);',
    replace: 'this.#lent = new Map([...lentBefore].slice(lentBefore.size));',
    tests: interrupted,
  },
  {
    name: 'directories that were written in are not synced',
    file: 'operations/restore/mount-writer.ts',
    find: 'if (this.#touched.delete(path) && this.syncs) directory.sync();',
    replace: 'this.#touched.delete(path);',
    tests: steps,
  },
  {
    name: 'what changed since the plan is removed',
    file: 'operations/restore/apply.ts',
    find: 'if (!(await this.#isBefore(parent, change))) {',
    replace: 'if (false as boolean) {',
    tests: meanwhile,
  },
  {
    name: 'what changed since the plan is overwritten',
    file: 'operations/restore/apply.ts',
    find: `} else if (
      (await this.#mayBeReplaced(parent, change, present)) ||
      (await this.#isOnlyParted(parent, after, present))
    ) {`,
    replace: '} else if (after !== undefined) {',
    tests: meanwhile,
  },
  {
    name: 'what changed while files waited is overwritten',
    file: 'operations/restore/apply.ts',
    find: 'if (replace && !(await this.#mayStillBeReplaced(parent, change, after))) {',
    replace: 'if (path === null) {',
    tests: together,
  },
  {
    name: 'a change of mode alone is not seen before a path is changed',
    file: 'operations/restore/apply.ts',
    find: "if (stat !== undefined && before?.kind === 'file' && stat.mode !== before.mode) return false;",
    replace: '',
    tests: meanwhile,
  },
  {
    name: 'a mode that somebody set is overwritten',
    file: 'operations/restore/apply.ts',
    find: 'if (path === rootPath && isForeign(this.#request.root.statSelf(), change)) {',
    replace: 'if (false as boolean) {',
    tests: meanwhile,
  },
  {
    name: 'files that wait have their names before they are synced',
    file: 'operations/restore/apply.ts',
    find: '    await synced;\n',
    replace: '    void synced;\n',
    tests: together,
  },
  {
    name: 'renames of files that waited are not synced',
    file: 'operations/restore/apply.ts',
    find: `    if (deferred || this.#maker.unsynced) await this.#sync();
`,
    replace: `    if (this.#maker.unsynced) await this.#sync();
`,
    tests: together,
  },
  {
    name: 'files that wait stay where the work ends early',
    file: 'operations/restore/apply.ts',
    find: '      await this.#discardWaiting();\n',
    replace: '',
    tests: together,
  },
  {
    name: 'a path is linked to another that has changed',
    file: 'operations/restore/apply.ts',
    find: '(first) => this.#isSound(first, after)',
    replace: '() => Promise.resolve(true)',
    tests: [...meanwhile, ...apply],
  },
  {
    name: 'a file is not synced before it has its name',
    file: 'operations/restore/entry-maker.ts',
    find: 'file.finish(!this.defers);',
    replace: 'file.finish(false);',
    tests: steps,
  },
  {
    name: 'what came meanwhile is replaced',
    file: 'operations/restore/entry-maker.ts',
    find: `if (replace) from.rename(name, baseName(path), directory);`,
    replace: `if (replace || path !== null) from.rename(name, baseName(path), directory);`,
    tests: ['acceptance/restore-steps.test.ts', ...meanwhile],
  },
  {
    name: 'a failed file stays under its temporary name',
    file: 'operations/restore/entry-maker.ts',
    find: `      if (!finishing) file.abandon();
      this.discard(temporary);
`,
    replace: `      if (!finishing) file.abandon();
`,
    tests: meanwhile,
  },
  {
    name: 'a mode is set before the owner',
    file: 'operations/restore/entry-maker.ts',
    find: '      if (!file.setOwner(entry.uid, entry.gid)) this.ownersNotSet.add(path);\n      file.setMode(entry.mode);\n',
    replace:
      '      file.setMode(entry.mode);\n      if (!file.setOwner(entry.uid, entry.gid)) this.ownersNotSet.add(path);\n',
    tests: apply,
  },
  {
    name: 'a remembered stat is believed although it may hide a change',
    file: 'operations/restore/entry-state.ts',
    find: ' && isSettled(stat, remembered.momentNs)) return true;',
    replace: ') return true;',
    tests: ['operations/restore/entry-state.test.ts'],
  },
  {
    name: 'content is not compared before a file is changed',
    file: 'operations/restore/entry-state.ts',
    find: "return (await contentOf(directory, name, hasher, state.byRanges === true ? 'by_ranges' : 'as_is')) === state.oid;",
    replace:
      "return (await contentOf(directory, name, hasher, state.byRanges === true ? 'by_ranges' : 'as_is')) !== '';",
    tests: meanwhile,
  },
  {
    name: 'half a plan is carried out',
    file: 'operations/restore/pending.ts',
    find: `planned === undefined || done) return undefined;`,
    replace: `done) return undefined;`,
    tests: pending,
  },
  {
    name: 'what was done is done again',
    file: 'operations/restore/pending.ts',
    find: `if (begin === undefined || planned === undefined || done) return undefined;`,
    replace: `if (begin === undefined || planned === undefined) return undefined;`,
    tests: pending,
  },
  {
    name: 'a lent mode is taken for the directory’s own',
    file: 'operations/restore/pending.ts',
    find: 'if (!modes.has(record.path)) modes.set(record.path, record.mode);',
    replace: 'modes.set(record.path, record.mode);',
    tests: pending,
  },
  {
    name: 'another restore begins while one is pending',
    file: 'operations/restore/restore.ts',
    find: '  if (!same) refusePending(known.ref.instance, pending);\n',
    replace: '  void same;\n',
    tests: interrupted,
  },
  {
    name: 'a store that cannot be read makes a path one that cannot be made',
    file: 'operations/restore/apply.ts',
    find: 'reader: ownReader(request.reader)',
    replace: 'reader: (void ownReader, request.reader)',
    tests: ownFailures,
  },
  {
    name: 'a journal that cannot be written makes a path one that cannot be made',
    file: 'operations/restore/apply.ts',
    find: '[asOwnFailure(request.onLend), asOwnFailure(request.onFile)]',
    replace: '[request.onLend, asOwnFailure(request.onFile)]',
    tests: ownFailures,
  },
  {
    name: 'who is told of a file and fails makes it one that cannot be made',
    file: 'operations/restore/apply.ts',
    find: '[asOwnFailure(request.onLend), asOwnFailure(request.onFile)]',
    replace: '[asOwnFailure(request.onLend), request.onFile]',
    tests: ownFailures,
  },
  {
    name: 'a journal that is done and stays hides what was not restored',
    file: 'operations/restore/execute.ts',
    find: '  dismiss(journal);\n',
    replace: '  void dismiss;\n  journal.remove();\n',
    tests: doneJournal,
  },
  {
    name: 'a journal that could not be synced says what it was told',
    file: 'fs/journal.ts',
    find: '      this.#takeBack(size);\n',
    replace: '      void [this.#takeBack, size];\n',
    tests: ['fs/journal.test.ts'],
  },
  {
    name: 'a restore is done although its journal does not say so',
    file: 'operations/restore/execute.ts',
    find: '    throw asPending(error, work.instance);\n  }\n  dismiss',
    replace: '    if (systemCode(error) === undefined) throw asPending(error, work.instance);\n  }\n  dismiss',
    tests: doneJournal,
  },
  {
    name: 'a git that could not be started hides what was not restored',
    file: 'git/objects.ts',
    find: '      () => undefined,\n    );\n  }\n\n  /** Puts the question',
    replace: '    );\n  }\n\n  /** Puts the question',
    tests: ['git/objects.test.ts'],
  },
];
