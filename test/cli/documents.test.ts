import { describe, expect, test } from 'vitest';
import { documentCommands, documentSchema, failureSchema } from '../../src/schemas.js';
import { call } from './call.js';
import { fakeSnap, foreignName, partlySaved, restored, ruined } from './fake-snap.js';

/** The command lines whose documents are checked: every command has at least one. */
const lines: readonly (readonly [command: (typeof documentCommands)[number], line: string])[] = [
  ['save', 'save'],
  ['list', 'list'],
  ['list', 'list --all'],
  ['show', 'show 4'],
  ['explain', 'explain node_modules/x a'],
  ['plan', 'plan'],
  ['du', 'du --all'],
  ['stacks list', 'stacks list'],
  ['stacks show', 'stacks show node'],
  ['stacks validate', 'stacks validate X.toml'],
  ['stacks approve', 'stacks approve'],
  ['stacks revoke', 'stacks revoke'],
  ['diff', 'diff 1 2'],
  ['log', 'log'],
  ['cat', 'cat 1 a'],
  ['tree', 'tree 1'],
  ['export', 'export 1 new'],
  ['restore', 'restore 1 --yes'],
  ['restore', 'restore 1 --dry-run'],
  ['undo', 'undo --yes'],
  ['recover', 'recover --abort --yes'],
  ['run', 'run -- true'],
  ['run list', 'run list'],
  ['run remove', 'run remove app-run-1a2b3c4d --yes'],
  ['assess', 'assess --files'],
  ['assess', 'assess t'],
  ['keep', 'keep -m later'],
  ['discard', 'discard --yes --acknowledge m --acknowledge m:topic'],
  ['resume', 'resume t'],
  ['pin', 'pin 3'],
  ['unpin', 'unpin 3 --dry-run'],
  ['delete', 'delete 2 --yes'],
  ['prune', 'prune --dry-run'],
  ['gc', 'gc'],
  ['push', 'push /srv/r.git 1 latest'],
  ['fetch', 'fetch --all host:r.git'],
  ['verify', 'verify'],
  ['drill', 'drill'],
  ['doctor', 'doctor'],
  ['instance list', 'instance list'],
  ['instance show', 'instance show'],
  ['instance activate', 'instance activate'],
  ['instance deactivate', 'instance deactivate'],
  ['instance set', 'instance set keep_last=1'],
  ['instance close', 'instance close'],
  ['instance import', 'instance import jackin'],
  ['recovery show', 'recovery show t'],
  ['recovery list', 'recovery list t'],
  ['recovery diff', 'recovery diff t'],
  ['recovery restore', 'recovery restore t --yes'],
];

describe('--json', () => {
  test.each(lines)('%s: "%s" prints the document of the schema and nothing else', async (command, line) => {
    const called = await call(['--json', ...line.split(' ')]);
    expect(called.stderr).toBe('');
    expect(called.stdout.split('\n')).toHaveLength(2);
    const document = called.document();
    // The schema drops keys that it does not know: equal means that every key is described.
    expect(documentSchema(command).parse(document)).toEqual(document);
    expect(document).toMatchObject({ schema_version: '1', command, ok: true, timing: { elapsed_seconds: 0.042 } });
  });

  test('verify says what is damaged, and how much was hashed', async () => {
    const fake = fakeSnap({ verify: () => Promise.resolve(ruined) });
    const called = await call(['verify', '--json'], { fake });
    const document = called.document();
    expect(called.code).toBe(7);
    expect(documentSchema('verify').parse(document)).toEqual(document);
    expect(document.data).toMatchObject({
      sound: false,
      damaged: [
        {
          problem: 'objects are damaged',
          paths: [
            { mount: 'm', path: expect.stringContaining('src/x') as string, kind: 'file' },
            { mount: 'm', path: 'src', kind: 'directory' },
            { mount: null, path: 'meta/manifest.json', kind: 'file' },
          ],
          paths_total: 1237,
        },
        { paths: [{ mount: null, path: '', kind: 'directory' }], paths_total: 1 },
      ],
      content: { objects_checked: 1000, objects_total: 12_345 },
    });
  });

  test('every command has a document here', () => {
    expect([...new Set(lines.map(([command]) => command))].sort()).toEqual([...documentCommands].sort());
  });

  test('save says what the contract names', async () => {
    const { data } = (await call(['save', '--json'])).document();
    expect(data['snapshot']).toMatchObject({ instance: 't', seq: 3, ref: 'refs/jackin/t/3', parent_seq: 2 });
    expect(data['observed_only']).toEqual([
      { mount: 'm', path: '.env', reason: 'secret' },
      { mount: 'm', path: 'build', reason: 'ignored' },
      { mount: 'm', path: { base64: Buffer.from(foreignName, 'latin1').toString('base64') }, reason: 'ignored' },
    ]);
  });

  test('restore says what the contract names', async () => {
    const { data, messages } = (await call(['restore', '1', '--yes', '--json'])).document();
    expect(data).toMatchObject({
      dry_run: false,
      rollback_summary: {
        instance: 't',
        from_snapshot: { seq: 1 },
        restored_files_count: 2,
        deleted_files_count: 1,
        emergency_snapshot: { seq: 2, ref: 'refs/jackin/t/2' },
      },
      changes_reverted: ['a', 'new', { base64: 'YmFk/w==' }],
      kept: [{ path: 'clone', reason: 'a repository made since' }],
      impact: { files_affected: 3, bytes_written: 4 },
      post_rollback_state: { active_snapshot: { seq: 1 }, verified: true },
    });
    expect(messages).toEqual(['HEAD moved since the snapshot.']);
  });

  test('output of git and content of files are text where they are UTF-8, else base64', async () => {
    expect((await call(['diff', '1', '--json'])).document().data['output']).toEqual({ base64: 'K2Hp' });
    expect((await call(['log', '--json'])).document().data['output']).toBe('commit\n');
    expect((await call(['cat', '1', 'a', '--json'])).document().data['files']).toEqual([
      { path: 'a', size_bytes: 7, content: 'content' },
    ]);
  });

  test('a partial save is ok and exits 6', async () => {
    const fake = fakeSnap({ save: () => Promise.resolve(partlySaved) });
    const called = await call(['save', '--json'], { fake });
    expect(called.code).toBe(6);
    expect(called.document()).toMatchObject({ ok: true, data: { complete: false } });
  });

  test('paths that could not be restored are in kept, failed and messages', async () => {
    const failed = [{ ...restored.kept[0]!, path: foreignName, reason: 'a pipe is in its place' }];
    const fake = fakeSnap({ restore: () => Promise.resolve({ ...restored, failed }) });
    const called = await call(['restore', '1', '--json'], { fake });
    expect(called.code).toBe(6);
    const name = { base64: 'YmFk/w==' };
    expect(called.document()).toMatchObject({ ok: true, data: { failed: [{ path: name }] } });
    expect(called.document().data['kept']).toContainEqual({ mount: 'm', path: name, reason: 'a pipe is in its place' });
    expect(called.document()['messages']).toContainEqual('not restored: bad\\xff: a pipe is in its place');
  });
});

describe('failures with --json', () => {
  test.each([
    { line: 'save --no-such --json', code: 2, command: 'save' },
    { line: '--json no-such', code: 2, command: '' },
    { line: 'diff --json 1 2 3', code: 2, command: 'diff' },
    { line: 'recover --json', code: 2, command: 'recover' },
    { line: 'instance show x --json', code: 2, command: 'instance show' },
    { line: '-i UPPER list --json', code: 2, command: 'list' },
  ])('$line is a document, too', async ({ line, code, command }) => {
    const called = await call(line.split(' '));
    expect(called.code).toBe(code);
    const document = called.document();
    expect(failureSchema.parse(document)).toEqual(document);
    expect(document).toMatchObject({ ok: false, command, error: { code: 'USAGE' } });
    expect(document).not.toHaveProperty('data');
  });

  test('no consent is exit 5 and a document', async () => {
    const called = await call(['restore', '1', '--json']);
    expect(called.code).toBe(5);
    expect(called.document().error).toMatchObject({
      code: 'CONFIRMATION_NEEDED',
      hint: expect.stringContaining('--yes'),
    });
  });
});
