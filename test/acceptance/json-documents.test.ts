import { chmodSync, linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DocumentCommand } from '../../src/schemas.js';
import { documentCommands, documentSchema } from '../../src/schemas.js';
import { FakeJackin } from '../support/jackin-home.js';
import { buildTree, makeFifo } from '../support/build-tree.js';
import { storeGit } from '../support/store-git.js';
import { file } from '../support/tree-plan.js';
import { commitFiles, createRepository, userGitText } from '../support/user-git.js';
import type { JsonRun, RunOptions } from './scene.js';
import { Scene } from './scene.js';

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Runs a command, checks its document against the schema, and answers it. */
async function checked(scene: Scene, args: readonly string[], options: RunOptions = {}): Promise<JsonRun> {
  const run = await scene.json(args, options);
  const { command } = run.document;
  const parsed = documentSchema(command as DocumentCommand).safeParse(run.document);
  expect(parsed.error?.issues, `${args.join(' ')}: ${run.stdout.slice(0, 1000)}`).toBeUndefined();
  expect(run.stdout.trimEnd()).not.toContain('\n');
  expect(args.slice(0, command.split(' ').length).join(' ')).toBe(command);
  expect(run.document.schema_version).toBe('1');
  expect(camelCaseKeys(run.document), args.join(' ')).toEqual([]);
  return run;
}

function camelCaseKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(camelCaseKeys);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(/^[a-z][a-z0-9_]*$/.test(key) ? [] : [key]),
    ...camelCaseKeys(inner),
  ]);
}

/** A mount with everything in it that documents tell of. */
async function manifold(): Promise<Scene> {
  const scene = new Scene();
  createRepository(scene.mount);
  commitFiles(scene.mount, { a: 'a\n', 'd/f': 'f', '.gitignore': '*.log\n' });
  createRepository(scene.at('nested'));
  await buildTree(scene.mount, [file('bad\xff', 'x')]);
  scene.write({ a: 'dirty', '.env': 's', 'x.log': 'l', 'nested/f': 'f' });
  symlinkSync('a', scene.at('link'));
  linkSync(scene.at('d/f'), scene.at('d/g'));
  makeFifo(scene.at('pipe'));
  return scene;
}

/** Snapshots to another repository, and back. */
async function throughRemote(
  scene: Scene,
  run: (args: readonly string[], options?: RunOptions) => Promise<JsonRun>,
): Promise<void> {
  const remote = join(scene.area, 'remote.git');
  userGitText(scene.area, ['init', '--quiet', '--bare', remote]);
  await run(['push', '--dry-run', remote]);
  await run(['push', remote]);
  await run(['push', remote, 'latest']);
  await run(['fetch', '--all', remote]);
  await run(['push', 'ext::sh'], { code: 4 });
}

/** What is told before, beside and after the work of a session. */
async function aroundSessions(
  scene: Scene,
  run: (args: readonly string[], options?: RunOptions) => Promise<JsonRun>,
): Promise<void> {
  await run(['plan']);
  await run(['explain', 'a', '.env', 'x.log', 'none']);
  await run(['du']);
  await run(['du', '--all']);
  await run(['assess', '--files']);
  await run(['keep', '-m', 'for later']);
  await run(['resume']);
  await run(['recovery', 'list']);
  await run(['recovery', 'list', 't']);
  await run(['recovery', 'show', 't']);
  await run(['recovery', 'diff', 't', '--stat']);
  await run(['recovery', 'restore', 't', '--dry-run']);
  await run(['run', '--worktree', '--', 'true'], { instance: null });
  const { data } = await run(['run', 'list', '--all'], { instance: null });
  await run(['run', 'remove', data.worktrees[0].name, '--yes'], { instance: null });
  await run(['save', scene.folder('other', { f: 'f' })], { instance: 'other' });
  await run(['discard', '--yes'], { instance: 'other' });
  const preset = join(scene.area, 'mine.toml');
  writeFileSync(preset, "description = 'mine'\ndetect = ['mine.cfg']\npatterns = ['out/']\n");
  await run(['stacks', 'validate', preset]);
  await run(['stacks', 'list']);
  await run(['stacks', 'show', 'node']);
  scene.write({ '.jackin-snap.toml': "recommended = ['go']\n" });
  await run(['stacks', 'approve']);
  await run(['stacks', 'revoke']);
  const jackin = new FakeJackin(scene.area);
  jackin.workspace('shop', `[[mounts]]\nsrc = "${scene.folder('shop', { f: 'f' })}"\ndst = "/workspace"\n`);
  const elsewhere = { env: jackin.env, cwd: scene.outside, instance: null };
  await run(['instance', 'import', 'jackin', jackin.session({})], elsewhere);
}

describe('the document of every command', () => {
  test('is what the schemas say', async () => {
    const scene = await manifold();
    const seen = new Set<string>();
    const run = async (args: readonly string[], options: RunOptions = {}): Promise<JsonRun> => {
      const done = await checked(scene, args, options);
      seen.add(done.document.command);
      return done;
    };
    await run([
      'save',
      '-m',
      'message',
      '--phase',
      'p',
      '--decision',
      'd',
      '--resource',
      'r',
      '--meta',
      'k=v',
      scene.mount,
    ]);
    await run(['save', '--if-changed']);
    await run(['save', '--if-changed', '--full']);
    scene.write({ a: 'b', later: 'later' });
    scene.remove('link', 'd');
    await buildTree(scene.mount, [file('new\xfe', 'x')]);
    await run([
      'save',
      '--path',
      'a',
      '--path',
      'missing',
      '--exclude',
      'x',
      '--include',
      'y',
      '--max-file-size',
      '1M',
    ]);
    await run(['list']);
    await run(['list', '--all']);
    await run(['list', '--trigger', 'manual', '--since', '1h', '--limit', '1']);
    await run(['show', '1']);
    await run(['diff', '1', '2']);
    await run(['diff', '1']);
    await run(['diff', '1', '--exit-code', '--name-status'], { code: 1 });
    await run(['log']);
    await run(['log', '-p', '--format=%H']);
    await run(['cat', '1', 'a', 'd/f']);
    await run(['tree', '1']);
    await run(['tree', '1', 'd']);
    await run(['export', '1', join(scene.area, 'export')]);
    await run(['export', '1', join(scene.area, 'export.tar.gz')]);
    await run(['restore', '1', '--dry-run']);
    await run(['restore', '1', '--yes']);
    await run(['restore', '1', '--yes']);
    await run(['restore', '1', '--yes', '--to', join(scene.area, 'copy')]);
    await run(['undo', '--dry-run']);
    await run(['undo', '--yes']);
    await run(['pin', '1']);
    await run(['unpin', '1']);
    await run(['delete', '2', '--dry-run']);
    await run(['delete', '2', '--yes']);
    await run(['prune', '--dry-run']);
    await run(['prune', '--yes']);
    await run(['gc', '--dry-run']);
    await run(['gc']);
    await throughRemote(scene, run);
    await run(['verify']);
    await run(['verify', '--full']);
    await run(['drill']);
    await run(['doctor']);
    await run(['doctor', '--fix']);
    await run(['run', '--', 'sh', '-c', 'echo said; echo more >&2; exit 3'], { code: 3 });
    await run(['instance', 'list']);
    await run(['instance', 'show']);
    await run(['instance', 'activate', '--pid', String(process.pid)]);
    await run(['instance', 'deactivate']);
    await run(['instance', 'set', 'keep_last=3', 'exclude=a,b', 'max_store_bytes=none']);
    scene.write({ a: 'c' });
    const env = {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'die-at.js')}`,
      DIE_BELOW: scene.mount,
      DIE_AT: '3',
    };
    await scene.start(['restore', '1', '--yes'], { env }).done;
    await run(['instance', 'show']);
    await run(['recover', '--abort', '--yes']);
    await aroundSessions(scene, run);
    await run(['instance', 'close']);
    expect([...seen].sort()).toEqual([...documentCommands].sort());
  }, 300_000);

  test('is one of failure, without data, when it fails', async () => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    await scene.save();
    scene.write({ a: 'b' });
    const failures: readonly (readonly [code: number, error: string, ...args: string[]])[] = [
      [3, 'SNAPSHOT_NOT_FOUND', 'restore', '99', '--yes'],
      [3, 'SNAPSHOT_NOT_FOUND', 'show', '99'],
      [3, 'SNAPSHOT_NOT_FOUND', 'diff', '1', '99'],
      [3, 'SNAPSHOT_NOT_FOUND', 'pin', '99'],
      [3, 'SNAPSHOT_NOT_FOUND', 'delete', '99', '--yes'],
      [3, 'SNAPSHOT_NOT_FOUND', 'export', '99', join(scene.area, 'x')],
      [3, 'PATH_NOT_FOUND', 'cat', '1', 'nope'],
      [3, 'PATH_NOT_FOUND', 'restore', '1', '--yes', '--', 'nope'],
      [3, 'PATH_NOT_FOUND', 'tree', '1', 'nope'],
      [3, 'NOTHING_TO_UNDO', 'undo', '--yes'],
      [3, 'NOTHING_PENDING', 'recover', '--abort', '--yes'],
      [5, 'CONFIRMATION_NEEDED', 'restore', '1'],
      [5, 'CONFIRMATION_NEEDED', 'delete', '1'],
      [4, 'DESTINATION_EXISTS', 'export', '1', scene.mount],
      [2, 'USAGE', 'restore'],
      [2, 'USAGE', 'no-such-command'],
      [2, 'USAGE', 'save', '--no-such-option'],
      [2, 'USAGE', 'instance', 'set', 'nope=1'],
      [127, 'COMMAND_NOT_STARTED', 'run', '--', 'no-such-program-here'],
    ];
    for (const [code, error, ...args] of failures) {
      const { document, stderr } = await scene.json(args, { code });
      expect(document, args.join(' ')).toMatchObject({ schema_version: '1', ok: false, error: { code: error } });
      expect(document).not.toHaveProperty('data');
      expect(document.error?.message).not.toBe('');
      expect(document.error?.hint).toMatch(/\w/);
      expect(Array.isArray(document.error?.paths)).toBe(true);
      expect(stderr, args.join(' ')).not.toMatch(/^\s+at /m);
    }
    const unknown = await scene.json(['list'], { instance: 'nobody', code: 3 });
    expect(unknown.document.error?.code).toBe('INSTANCE_NOT_FOUND');
    expect(scene.read('a')).toBe('b');
  });
});

test('the document of a save tells the snapshot, its mounts and counts as they are', async () => {
  const scene = await manifold();
  const saved = await scene.save(['-m', 'a message', '--trigger', 'pre_write']);
  const { snapshot, mounts, stats } = saved.data;
  expect(snapshot).toMatchObject({ instance: 't', seq: 1, ref: 'refs/jackin/t/1', trigger: 'pre_write' });
  expect(snapshot).toMatchObject({ message: 'a message', parent_seq: null });
  expect(snapshot.id).toMatch(ulid);
  expect(Math.abs(Date.parse(snapshot.created_at) - Date.now())).toBeLessThan(120_000);
  const parse = (name: string): string => storeGit(scene.dataDir, ['rev-parse', name]).stdout.trim();
  expect([snapshot.commit, snapshot.tree]).toEqual([parse('refs/jackin/t/1'), parse('refs/jackin/t/1^{tree}')]);
  expect(mounts).toMatchObject([{ name: 'm', path: scene.mount, kind: 'clone', branch: 'main', dirty: true }]);
  expect(mounts[0].base_commit).toBe(userGitText(scene.mount, ['rev-parse', 'HEAD']));
  expect(mounts[0].nested).toMatchObject([{ path: 'nested', branch: 'main' }]);
  // a, bad, d/f, d/g, .gitignore, link, nested/f are stored; .env, x.log, pipe only seen.
  expect(stats).toMatchObject({ files_observed: 10, files_stored: 7, files_reused: 0 });
  const reasons = saved.data.observed_only.map(({ reason }: { reason: string }) => reason).sort();
  expect(reasons).toEqual(['git_dir', 'git_dir', 'ignored', 'secret', 'special']);
  const again = await scene.save();
  expect(again.data.snapshot.parent_seq).toBe(1);
  const [newest, oldest] = await scene.list();
  expect([newest.seq, oldest.seq]).toEqual([2, 1]);
  expect(oldest).toMatchObject({ files: 7, pinned: false, recovery_of: null, restorable: true, ...snapshot });
});

test('the document of a restore tells what was done, of a dry run what would be', async () => {
  const scene = new Scene();
  scene.write({ a: 'a1', 'd/f': 'f', mode: 'm', '.gitignore': '*.o\n' });
  symlinkSync('a', scene.at('l'));
  await scene.save();
  scene.write({ a: 'longer', later: 'later', 'x.o': 'o' });
  scene.remove('d', 'l');
  scene.write({ 'l/in': 'in' });
  chmodSync(scene.at('mode'), 0o600);
  const dry = await scene.json(['restore', '1', '--dry-run']);
  const restored = await scene.restore();
  expect(restored.data.plan).toEqual(dry.data.plan);
  expect(dry.data).toMatchObject({ dry_run: true, changes_reverted: [] });
  expect(dry.data.rollback_summary).toMatchObject({ emergency_snapshot: null, restored_files_count: 0 });
  const plan = restored.data.plan.map(({ action, path }: { action: string; path: string }) => `${action} ${path}`);
  expect(plan.sort()).toEqual(
    ['overwrite a', 'create d', 'create d/f', 'retype l', 'delete l/in', 'delete later', 'chmod mode'].sort(),
  );
  for (const { path, host_path, mount, reason } of restored.data.plan) {
    expect([host_path, mount]).toEqual([scene.at(path), 'm']);
    expect(reason).not.toBe('');
  }
  const [emergency] = await scene.list();
  const pointer = (of: Record<string, unknown>) => ({ instance: 't', seq: of['seq'], id: of['id'], ref: of['ref'] });
  const first = (await scene.list()).at(-1);
  expect(restored.data.rollback_summary).toEqual({
    instance: 't',
    from_snapshot: pointer(first),
    restored_files_count: 4,
    deleted_files_count: 2,
    emergency_snapshot: pointer(emergency),
  });
  expect(restored.data).toMatchObject({ dry_run: false, destination: null, failed: [] });
  expect(restored.data.changes_reverted.sort()).toEqual(plan.map((line: string) => line.split(' ')[1]).sort());
  expect(restored.data.kept).toEqual([{ mount: 'm', path: 'x.o', reason: 'ignored' }]);
  expect(restored.data.post_rollback_state).toEqual({ active_snapshot: pointer(first), verified: true });
  expect(restored.data.impact).toEqual({ files_affected: 6, bytes_written: 3 });
  expect(emergency).toMatchObject({ trigger: 'emergency', recovery_of: pointer(first) });
});
