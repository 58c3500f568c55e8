import { describe, expect, test } from 'vitest';
import { call } from './call.js';

describe('global options', () => {
  test.each([
    { argv: ['-i', 'a', 'list'] },
    { argv: ['list', '-i', 'a'] },
    { argv: ['--instance=a', 'list'] },
    { argv: ['-i', 'b', 'list', '-i', 'a'] },
    { argv: ['instance', '-i', 'a', 'show'] },
    { argv: ['instance', 'show', '-ia'] },
  ])('$argv chooses the instance a', async ({ argv }) => {
    const { code, options } = await call(argv);
    expect({ code, instance: options?.instance }).toEqual({ code: 0, instance: 'a' });
  });

  test('--data-dir and --json stand before and after the command', async () => {
    const before = await call(['--data-dir', '/d', '--json', 'gc']);
    const after = await call(['gc', '--json', '--data-dir', '/d']);
    expect(before.options?.dataDir).toBe('/d');
    expect(after.options?.dataDir).toBe('/d');
    expect(before.document()['command']).toBe('gc');
    expect(after.stdout).toBe(before.stdout);
  });

  test("an option's value is not taken for an option", async () => {
    const { request, options } = await call(['save', '-m', '-i is broken', '--phase', '--json']);
    expect(request).toMatchObject({ message: '-i is broken', phase: '--json' });
    expect(options?.instance).toBeUndefined();
  });
});

describe('paths', () => {
  const at = (...paths: readonly string[]) => paths.map((path) => ({ mount: null, path }));

  test.each([
    { argv: ['restore', '1', '--yes', '--', '--yes', '-rf'], paths: at('--yes', '-rf') },
    { argv: ['restore', '1', './a/', 'b'], paths: at('a', 'b') },
    { argv: ['restore', '1', '--', '*', '--'], paths: at('*', '--') },
    { argv: ['restore', '1', '.'], paths: at('') },
    { argv: ['restore', '1', 'a//b', './c/./d'], paths: at('a/b', 'c/d') },
    { argv: ['restore', '1', 'two:d'], paths: at('two:d') },
    { argv: ['diff', '1', '--stat', '--', 'a'], paths: at('a') },
    { argv: ['diff', '1', '2', '--', '-U0'], paths: at('-U0') },
    { argv: ['log', '-p', '--', 'a b'], paths: at('a b') },
    { argv: ['save', '--path', 'a', '--path', './missing'], paths: at('a', 'missing') },
    { argv: ['restore', '1', 'é'], paths: at('\xc3\xa9') },
    { argv: ['restore', '1', 'x', '--paths-from', 'list'], paths: at('x', 'bad\xff', 'new\nline') },
    { argv: ['save', '--paths-from', '-'], paths: at('stdin') },
  ])('$argv', async ({ argv, paths }) => {
    const files = { list: 'bad\xff\0new\nline\0', '-': 'stdin' };
    const { request } = await call(argv, { files });
    expect(request).toMatchObject({ paths });
  });

  test('cat takes names that look like options after --', async () => {
    const { asked, stderr } = await call(['cat', '1', '--', 'a/--json', 'a/-i']);
    expect(stderr).toBe('');
    expect(asked.map(({ request }) => request)).toEqual(
      ['a/--json', 'a/-i'].map((path) => ({ snapshot: '1', path: { mount: null, path } })),
    );
  });

  test.each([
    { word: '/etc/passwd', says: /absolute/ },
    { word: '../x', says: /"\.\."/ },
    { word: 'a/../b', says: /component "\.\."/ },
    { word: '', says: /empty/ },
  ])('$word is wrong usage', async ({ word, says }) => {
    const { code, stderr, stdout } = await call(['restore', '1', word]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });

  test.each([{ files: {} }, { files: { list: '\0' } }])(
    'a --paths-from that names nothing is refused',
    async ({ files }) => {
      const { code, asked } = await call(['restore', '1', '--yes', '--paths-from', 'list'], { files });
      expect({ code, asked }).toEqual({ code: 2, asked: [] });
    },
  );
});

describe('options for git', () => {
  test.each([
    ['diff 1 2 --stat -U0 -M --exit-code', ['--stat', '-U0', '-M', '--exit-code']],
    ['diff --stat=80 --word-diff=color 1', ['--stat=80', '--word-diff=color']],
    ['diff 1 -w -b --numstat -z', ['-w', '-b', '--numstat', '-z']],
    ['log -p -n 3 --pretty', ['-p', '-n', '3', '--pretty']],
    ['log --format %h --oneline', ['--format=%h', '--oneline']],
    ['log --format=%an%n --max-count=2', ['--format=%an%n', '--max-count=2']],
  ])('%s', async (line, options) => {
    const { request } = await call(line.split(' '));
    expect(request).toMatchObject({ options });
  });

  test.each([
    { line: 'log', begins: ['--pretty=format:', '--stat'] },
    { line: 'log -p -n 3', begins: ['--pretty=format:', '-p'] },
    { line: 'log --oneline', begins: ['--oneline'] },
    { line: 'log --format=%H', begins: ['--format=%H'] },
  ])('$line shows number and labels unless another format is asked for', async ({ line, begins }) => {
    const { request } = await call(line.split(' '));
    const { options } = request as { options: readonly string[] };
    begins.forEach((begin, at) => expect(options[at]).toMatch(new RegExp(`^${begin}`)));
    expect(options.filter((option) => /^--(pretty|format|oneline)/.test(option))).toHaveLength(1);
  });

  test('log --oneline has the numbers on a terminal', async () => {
    const { request } = await call(['log', '--oneline'], { terminal: true });
    expect(request).toMatchObject({ options: ['--decorate', '--decorate-refs=refs/jackin/*', '--oneline'] });
  });

  test.each([
    'diff 1 --ext-diff',
    'diff 1 --textconv',
    'diff 1 --output=/tmp/x',
    'diff 1 --no-index',
    'diff 1 -O/tmp/x',
    'log --all',
    'log --show-signature',
    'log 1',
    'diff 1 --stat=x',
  ])('%s is wrong usage', async (line) => {
    const { code, asked } = await call(line.split(' '));
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
  });

  test.each([
    { where: 'a pipe', terminal: false, env: { PAGER: 'more' }, output: { color: false, pager: null } },
    { where: 'a terminal', terminal: true, env: { NO_COLOR: '' }, output: { color: true, pager: 'less' } },
    {
      where: 'GIT_PAGER',
      terminal: true,
      env: { GIT_PAGER: 'most', PAGER: 'more' },
      output: { color: false, pager: 'most' },
    },
    { where: 'PAGER=cat', terminal: true, env: { PAGER: 'cat' }, output: { color: false, pager: null } },
    { where: 'no stdin', terminal: { stdout: true }, env: {}, output: { color: false, pager: null } },
  ])('on $where git gets $output', async ({ terminal, env, output }) => {
    const { request } = await call(['diff', '1'], { terminal, env });
    expect(request).toMatchObject({ output });
  });
});

describe('run', () => {
  test.each([
    [
      ['run', '--', 'printf', '%s|', '--yes', '-i', 'a b'],
      ['printf', '%s|', '--yes', '-i', 'a b'],
    ],
    [
      ['-i', 't', 'run', 'make', '--json', '-q'],
      ['make', '--json', '-q'],
    ],
    [
      ['run', '--', 'sh', '--', '-x'],
      ['sh', '--', '-x'],
    ],
  ])('%j passes the words on', async (argv, command) => {
    const { request, code } = await call(argv);
    expect(request).toMatchObject({ command, stdout: 'stdout' });
    expect(code).toBe(9);
  });

  test("with --json the command's own stdout goes to stderr", async () => {
    const { request, document } = await call(['run', '--json', '--', 'true', '--quiet']);
    expect(request).toMatchObject({ command: ['true', '--quiet'], stdout: 'stderr' });
    expect(document().data['exit_code']).toBe(9);
  });

  test('without a command it is wrong usage', async () => {
    expect((await call(['run'])).code).toBe(2);
  });
});

describe('requests', () => {
  test('save passes everything on', async () => {
    const line =
      'save web --mount api=../api -m why --trigger pre_write --source-tool edit --phase p --decision d --resource r ' +
      '--meta a=1 --meta b=x=y --if-changed --strict --full --exclude *.o --exclude tmp --include keep --no-gitignore ' +
      '--no-stacks --include-secrets --max-file-size 100M --allow-unsafe-mount';
    const { request } = await call(line.split(' '));
    expect(request).toEqual({
      folders: [
        { name: null, path: '/work/m/web' },
        { name: 'api', path: '/work/api' },
      ],
      message: 'why',
      trigger: 'pre_write',
      sourceTool: 'edit',
      phase: 'p',
      decision: 'd',
      resource: 'r',
      meta: { a: '1', b: 'x=y' },
      ifChanged: true,
      strict: true,
      full: true,
      allowUnsafeMount: true,
      overrides: {
        exclude: ['*.o', 'tmp'],
        include: ['keep'],
        gitignore: false,
        stacks: false,
        include_secrets: true,
        max_file_size: 104_857_600,
      },
      paths: undefined,
    });
  });

  test('restore passes everything on', async () => {
    const line = 'restore 3 a --dry-run --mount m --no-delete --force --delete-new-repos --allow-large --to ../new';
    const { request } = await call(line.split(' '));
    expect(request).toEqual({
      snapshot: '3',
      paths: [{ mount: null, path: 'a' }],
      mount: 'm',
      dryRun: true,
      noDelete: true,
      force: true,
      deleteNewRepositories: true,
      allowLarge: true,
      confirmLarge: undefined,
      to: '/work/new',
    });
  });

  test.each([
    [
      'list --trigger manual --limit 2 --since 1h',
      { trigger: 'manual', limit: 2, since: new Date('2026-03-01T12:30:00.000Z') },
    ],
    ['ls', {}],
    ['undo -y --force', { force: true, dryRun: undefined, allowLarge: false, confirmLarge: undefined }],
    ['recover --abort -y', { direction: 'abort' }],
    ['recover --continue -y', { direction: 'continue' }],
    ['export 3 ../copy.tar', { snapshot: '3', destination: '/work/copy.tar' }],
    ['export 3 ../copy --state', { snapshot: '3', destination: '/work/copy', state: true }],
    ['restore 3 --state --to ../copy -y', { snapshot: '3', to: '/work/copy', state: true, allowLarge: false }],
    ['delete 1 2 -y', { snapshots: ['1', '2'], dryRun: false }],
    ['prune --dry-run', { dryRun: true }],
    ['verify --full', { full: true }],
    ['verify --percent 10 --max-duration 2h', { percent: 10, maxDurationSeconds: 7200 }],
    ['pin latest', 'latest'],
    ['pin latest --dry-run', 'latest'],
    ['unpin 2', '2'],
    ['tree 3 src/', { snapshot: '3', path: { mount: null, path: 'src' } }],
    ['instance activate --pid 12', { pid: 12 }],
    ['instance set keep_last=5 exclude=a,b', { keep_last: '5', exclude: 'a,b' }],
  ])('%s', async (line, request) => {
    const called = await call(line.split(' '));
    expect({ code: called.code, request: called.request }).toEqual({ code: 0, request });
  });
});
