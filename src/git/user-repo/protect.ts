import { pathToJson } from '../../core/entry-path.js';
import { type GitState, type ProtectedObjects, missingListed } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory, ObjectType } from '../../core/ports.js';
import { type RepositoryFacts, below, readFacts } from './git-state.js';
import type { Reading } from './guarded-directory.js';
import { parseIndex } from './index-file.js';
import { type KeepRequest, ObjectKeeper } from './kept-objects.js';
import { locate } from './location.js';
import { RepositoryObjects } from './repository-objects.js';
import { keepIndex } from './staged-tree.js';
import { type UnpushedCommits, findUnpushed, linksOf } from './unpushed-commits.js';

/*
 * Takes in what only a user's repository holds. Read in process; no git runs over it.
 */

export interface ProtectRequest extends Omit<KeepRequest, 'read' | 'known'> {
  readonly known: () => Promise<KeepRequest['known']>;
  readonly directory: Pick<Directory, 'descriptorPath'>;
  readonly gitEntry: 'directory' | 'file';
  /** Beside what a fingerprint is made of: the same text for the same way of taking things in. */
  readonly manner: string;
  /** Whether there is a state with this fingerprint, so that nothing needs to be taken in. */
  readonly isKnown: (fingerprint: string) => boolean;
}

export type Protection =
  | { readonly kind: 'protected'; readonly state: GitState; readonly objects: ProtectedObjects }
  | { readonly kind: 'unchanged' }
  /** Nothing is protected, and why. */
  | { readonly kind: 'unprotected'; readonly why: string };

const mostCommits = 200_000;

/** Read anew when it changed meanwhile: refs and index must be those of one moment, and a collection moves objects. */
export async function protect(request: ProtectRequest): Promise<Protection> {
  for (let attempt = 1; ; attempt += 1) {
    const { protection, isSteady } = await protectOnce(request);
    if (isSteady || attempt >= attempts) return isSteady ? protection : withProblem(protection);
  }
}

const attempts = 3;

function withProblem(protection: Protection): Protection {
  if (protection.kind !== 'protected') return protection;
  const problems = [...protection.state.problems, 'the repository changed while it was read, each time'];
  // What is not of one moment is no state to be skipped for.
  return { ...protection, state: { ...protection.state, problems, fingerprint: '' } };
}

async function protectOnce(request: ProtectRequest): Promise<{ protection: Protection; isSteady: boolean }> {
  const located = locate(request.directory.descriptorPath, request.gitEntry);
  if (located.kind !== 'read') {
    const why = located.kind === 'unreadable' ? located.why : 'no repository is where .git leads';
    return { protection: { kind: 'unprotected', why }, isSteady: true };
  }
  const location = located.value;
  const objects = new RepositoryObjects(location.commonDir);
  try {
    const facts = readFacts(location);
    if ('unreadable' in facts) return { protection: { kind: 'unprotected', why: facts.unreadable }, isSteady: true };
    const fingerprint = `${facts.fingerprint} ${request.manner}`;
    if (request.isKnown(fingerprint)) return { protection: { kind: 'unchanged' }, isSteady: true };
    const protection = await takeIn(request, facts, fingerprint, (oid, type) => objects.read(oid, type));
    const after = readFacts(location);
    return { protection, isSteady: 'unreadable' in after || after.fingerprint === facts.fingerprint };
  } finally {
    objects.close();
    location.close();
  }
}

async function takeIn(
  request: ProtectRequest,
  facts: RepositoryFacts,
  fingerprint: string,
  readObject: (oid: ObjectId, type: ObjectType) => Reading<Buffer>,
): Promise<Protection> {
  const unpushed = await findUnpushed({
    tips: tipsOf(facts),
    remotes: below(facts.refs, 'refs/remotes/').map(([, oid]) => oid),
    wanted: facts.headCommit,
    shallow: facts.shallow,
    readCommit: (oid) => readObject(oid, 'commit'),
    pause: request.pause,
    limit: mostCommits,
  });
  if (unpushed === undefined)
    return { kind: 'unprotected', why: `its history is longer than ${String(mostCommits)} commits` };
  const problems = [...facts.problems];
  const keeper = new ObjectKeeper({ ...request, known: await request.known(), read: readObject });
  // What is staged comes first: it is what nobody else can have.
  const index = await keepStaged(facts, keeper, problems);
  await keepCommits(unpushed, tipsOf(facts), keeper);
  const tags = keepTags(facts, keeper, readObject);
  const state: GitState = {
    format: '1',
    fingerprint,
    include_secrets: request.includeSecrets,
    head: facts.head,
    branches: facts.branches,
    tags,
    remotes: facts.remotes,
    remote_branches: below(facts.refs, 'refs/remotes/').flatMap(([name, commit]) =>
      keeper.commits.has(commit) ? [{ name: pathToJson(name), commit }] : [],
    ),
    shallow: unpushed.shallow.filter((oid) => keeper.commits.has(oid)),
    stashes: facts.stashes,
    operation: facts.operation,
    operation_commits: facts.operationCommits,
    index,
    missing: keeper.missing.slice(0, missingListed),
    missing_total: keeper.missingTotal,
    problems,
    commits: [...unpushed.unpushed.keys()].filter((oid) => keeper.commits.has(oid)).length,
    bytes: keeper.bytes,
  };
  return { kind: 'protected', state, objects: keeper };
}

/** In the order in which they matter, should there be too much. */
function tipsOf({ headCommit, stashes, operationCommits, branches }: RepositoryFacts): ObjectId[] {
  const all = [
    ...(headCommit === null ? [] : [headCommit]),
    ...stashes.map(({ commit }) => commit),
    ...operationCommits.map(({ commit }) => commit),
    ...branches.map(({ commit }) => commit),
  ];
  return [...new Set(all)];
}

async function keepStaged(
  facts: RepositoryFacts,
  keeper: ObjectKeeper,
  problems: string[],
): Promise<GitState['index']> {
  if (facts.index.kind === 'absent') return null;
  const index = facts.index.kind === 'read' ? parseIndex(facts.index.value, 0n) : facts.index;
  if (index.kind === 'read') return keepIndex(index.value, keeper);
  problems.push(`what is staged is not protected: ${index.kind === 'unreadable' ? index.why : 'there is no index'}`);
  return null;
}

async function keepCommits(
  { unpushed, boundary, unreadable }: UnpushedCommits,
  tips: readonly ObjectId[],
  keeper: ObjectKeeper,
): Promise<void> {
  for (const { oid, reason } of unreadable) keeper.noteMissing(oid, 'commit', null, reason);
  const left = new Set([...tips, ...unpushed.keys(), ...boundary.keys()]);
  for (const oid of left) {
    const content = unpushed.get(oid) ?? boundary.get(oid);
    if (content === undefined) continue;
    if (keeper.isFull) {
      keeper.noteMissing(oid, 'commit', null, 'limit');
      continue;
    }
    keeper.keepCommit(oid, content);
    const { tree } = linksOf(content);
    if (tree === undefined) keeper.noteMissing(oid, 'commit', null, 'damaged');
    else await keeper.keepRoot(tree);
  }
}

function keepTags(
  { refs }: RepositoryFacts,
  keeper: ObjectKeeper,
  readObject: (oid: ObjectId, type: ObjectType) => Reading<Buffer>,
): GitState['tags'] {
  return below(refs, 'refs/tags/').flatMap(([name, object]) => {
    if (keeper.commits.has(object)) return [{ name: pathToJson(name), object }];
    const tag = readObject(object, 'tag');
    if (tag.kind !== 'read') return [];
    const target = /^object ([0-9a-f]{40})\ntype commit\n/.exec(tag.value.toString('latin1', 0, 64))?.[1];
    if (target === undefined || !keeper.commits.has(target as ObjectId)) return [];
    keeper.keepTag(object, tag.value);
    return [{ name: pathToJson(name), object }];
  });
}
