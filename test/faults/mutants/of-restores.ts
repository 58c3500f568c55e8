import type { Mutant } from './mutant.js';

const interrupted = ['acceptance/restore-pending.test.ts'];
const roots = ['acceptance/attack-roots.test.ts'];
const steps = ['acceptance/restore-steps.test.ts'];

/** How a restore changes a mount, and what it can be taken back to. */
export const mutantsOfRestores: readonly Mutant[] = [
  {
    name: 'another folder at the path of a mount is restored',
    file: 'operations/restore/guards.ts',
    find: 'if (same && context.host.realPath(path) === path) return;',
    replace: 'if (same || path !== null) return;',
    tests: roots,
  },
  {
    name: 'a folder that was swapped while the question waited is written in',
    file: 'operations/restore/guards.ts',
    find: 'if (root.identity.dev === mount.dev && root.identity.ino === mount.ino) return;',
    replace: 'if (root.identity.dev === mount.dev || mount.ino > 0n) return;',
    tests: roots,
  },
  {
    name: 'whoever is active stops no restore',
    file: 'operations/restore/guards.ts',
    find: '  if (first === undefined) return;\n',
    replace: '  if (first === undefined || first.owner) return;\n',
    tests: roots,
  },
  {
    name: 'who became active while the question waited is not seen',
    file: 'operations/restore/restore.ts',
    find: `  if (request.force !== true) refuseActive(await activeOverlaps(context, reachesOf(journey), journey.record));
`,
    replace: ``,
    tests: steps,
  },
  {
    name: 'an instance that is closed is restored',
    file: 'operations/restore/guards.ts',
    find: "if (record?.state !== 'closed') return;",
    replace: "if (record?.state !== 'closed' || record.name !== '') return;",
    tests: ['acceptance/exit-codes.test.ts', 'acceptance/sessions.test.ts'],
  },
  {
    name: 'a snapshot that lacks objects is restored in part',
    file: 'operations/restore/restore.ts',
    find: '  await refuseDamaged(context, known);\n',
    replace: '',
    tests: ['acceptance/whole-snapshots.test.ts'],
  },
  {
    name: 'damaged content is found when half is restored',
    file: 'operations/restore/restore.ts',
    find: '  await refuseUnsound(context, reader, known, planned);\n',
    replace: '',
    tests: ['acceptance/attack-content.test.ts'],
  },
  {
    name: 'a restore goes on without consent',
    file: 'operations/restore/restore.ts',
    find: "  if (!confirmed) throw new SnapError('DECLINED', 'The restore was declined: nothing changed.', { what: 'restore' });\n",
    replace: '  void confirmed;\n',
    tests: steps,
  },
  {
    name: 'most of a mount goes without a second question',
    file: 'operations/restore/restore.ts',
    find: '  await refuseLargeDeletions(large, request);\n',
    replace: '',
    tests: ['acceptance/large-deletions.test.ts'],
  },
  {
    name: 'nothing is saved before a restore',
    file: 'operations/restore/restore.ts',
    find: 'const emergency = await publishEmergency(context, { ...journey, writer });',
    replace:
      'const emergency = publishEmergency.length > 9 ? await publishEmergency(context, { ...journey, writer }) : pointerTo(known);',
    tests: steps,
  },
  {
    name: 'the state before is saved after the restore',
    file: 'operations/restore/restore.ts',
    find: '  const finished = await changeFiles(journey, emergency);\n',
    replace:
      '  context.store.dropRefLocks([]);\n  await context.store.changeRefs(\n    (await context.store.refs(emergency.ref)).map(({ name, oid }) => ({ name, old: oid, new: null })),\n  );\n  const finished = await changeFiles(journey, emergency);\n',
    tests: steps,
  },
  {
    name: 'a plan is not written down before it is carried out',
    file: 'operations/restore/execute.ts',
    find: '      journal.append(journalOf(id, job, changes));\n',
    replace: '      void journalOf;\n',
    tests: steps,
  },
  {
    name: 'a plan counts as complete before it is written down',
    file: 'operations/restore/execute.ts',
    find: `    ...all,
    { kind: 'planned', changes: all.length, ...(blocked.length === 0 ? {} : { blocked }) },
`,
    replace: `    { kind: 'planned', changes: all.length, ...(blocked.length === 0 ? {} : { blocked }) },
    ...all,
`,
    tests: steps,
  },
  {
    name: 'a restore counts as done before anything is changed',
    file: 'operations/restore/execute.ts',
    find: '  const progress = new RestoreProgress(work);\n',
    replace: "  const progress = new RestoreProgress(work);\n  journal.append([{ kind: 'done' }]);\n",
    tests: steps,
  },
  {
    name: 'the way that recovery chose is not written down',
    file: 'operations/restore/execute.ts',
    find: "      if (pending.direction !== direction) journal.append([{ kind: 'direction', direction }]);\n",
    replace: '',
    tests: interrupted,
  },
  {
    name: 'a restore is taken back by doing it',
    file: 'operations/restore/execute.ts',
    find: "direction === 'abort' ? list.map(inverse) : list",
    replace: "direction === 'abort' ? [...list] : list",
    tests: interrupted,
  },
  {
    name: 'what was written is not looked at again',
    file: 'operations/restore/execute.ts',
    find: 'return { applied, unlike: await verifyChanges(root, applied, { hasher, threads }, onLend) };',
    replace: 'return { applied, unlike: [] };',
    tests: steps,
  },
  {
    name: 'content is not read again after a restore',
    file: 'operations/restore/verify-changes.ts',
    find: 'return attributes && (await isInState(directory, baseName(path), after, hasher));',
    replace: 'return attributes;',
    tests: steps,
  },
];
