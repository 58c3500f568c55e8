// Two things to know before adding a rule. A pattern that can match nothing, such as `^(node:)?`, matches every path and
// silently voids its rule. And the tool shows built-in modules without `node:`. So a rule counts only once it has been
// seen to fail: test/toolchain/layers.test.ts holds one violation for each.

const only = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { pathNot: to },
});

const builtins = (...names) => `^(${names.join('|')})$`;
const packages = (...names) => `^node_modules/(@types/)?(${names.join('|')})/`;
const files = ['buffer', 'fs', 'fs/promises', 'path', 'stream', 'stream/promises', 'crypto', 'os'];

const client = [
  '^src/cli/',
  '^src/(index|schemas|errors)\\.ts$',
  // Exported by index.ts too, which is more than help and usage errors can wait for.
  '^src/core/command-text\\.ts$',
  builtins('process', 'tty', 'path', 'v8'),
  packages(
    'commander',
    'zod',
    'cli-progress',
    'cli-table3',
    '@inquirer/confirm',
    'pretty-bytes',
    'fast-string-width',
    'picocolors',
  ),
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    only('errors-import-nothing', '^src/errors\\.ts$', ['^$'], 'errors.ts is usable from everywhere.'),
    only(
      'core-is-pure',
      '^src/core/',
      ['^src/core/', '^src/errors\\.ts$', builtins('buffer'), packages('ignore', 'zod')],
      'core/ decides. It reads no disk, runs no git, and takes time and randomness as arguments.',
    ),
    only(
      'schemas-describe-core',
      '^src/schemas\\.ts$',
      ['^src/core/', '^src/errors\\.ts$', packages('zod')],
      'The schemas of documents are usable without the library that writes them.',
    ),
    only(
      'operations-see-ports-only',
      '^src/operations/',
      ['^src/(operations|core)/', '^src/errors\\.ts$', builtins('buffer')],
      'operations/ must run over any port, so that a test can fail the third write.',
    ),
    only(
      'fs-adapter',
      '^src/fs/',
      ['^src/(fs|core)/', '^src/errors\\.ts$', builtins(...files, 'worker_threads', 'zlib')],
      "fs/ is the only reader and writer of the user's files. It has never heard of git.",
    ),
    only(
      'git-adapter',
      '^src/git/',
      [
        '^src/(git|core)/',
        '^src/fs/(durable|regular-file)',
        '^src/errors\\.ts$',
        builtins(...files, 'child_process', 'worker_threads', 'zlib'),
        packages('simple-git'),
      ],
      'git/ is the only place that knows how a git repository is read and written.',
    ),
    only(
      'instance-adapter',
      '^src/instance/',
      [
        '^src/(instance|core)/',
        '^src/fs/(durable|regular-file)',
        '^src/errors\\.ts$',
        builtins('buffer', 'fs', 'fs/promises', 'path', 'os', 'crypto'),
        packages('zod', 'toml-eslint-parser'),
      ],
      'instance/ keeps records of instances. It reads neither mounts nor stores.',
    ),
    only(
      'run-adapter',
      '^src/run/',
      ['^src/(run|core)/', '^src/errors\\.ts$', builtins('child_process', 'os', 'path')],
      'run/ starts programs of the user and of the system, and knows nothing of snapshots.',
    ),
    only(
      'threads-join-both-sides',
      '^src/threads/',
      [
        '^src/(threads|core|fs)/',
        '^src/git/(names-in|pack/)',
        '^src/operations/restore/(directory-chain|entry-state)',
        '^src/errors\\.ts$',
        builtins('buffer', 'fs', 'os', 'path', 'worker_threads', 'zlib'),
      ],
      'threads/ takes work off a restore: content goes from packs to files, and files are held against their ids.',
    ),
    only(
      'scan-adapter',
      '^src/scan/',
      ['^src/core/', '^src/errors\\.ts$', packages('@secretlint/core', '@secretlint/types')],
      'scan/ asks a scanner for secrets whether a text holds one. It reads and stores nothing.',
    ),
    only(
      'snap-joins',
      '^src/snap(\\.ts$|/)',
      [
        '^src/(snap|core|operations|fs|git|instance|run|scan|threads)/',
        '^src/errors\\.ts$',
        builtins('os', 'path', 'process'),
        packages('ulid'),
      ],
      'snap.ts joins operations to adapters, and brings the time, the randomness and the environment.',
    ),
    only(
      'index-is-the-door',
      '^src/index\\.ts$',
      ['^src/(core|operations)/', '^src/(snap|errors)\\.ts$'],
      'The public API shows what snap.ts makes and the types that it speaks. Adapters stay inside.',
    ),
    only(
      'cli-is-a-client',
      '^src/cli/(?!main\\.ts$)',
      client,
      'The command line is the first user of the library and gets nothing that other users lack.',
    ),
    only(
      'main-brings-the-surroundings',
      '^src/cli/main\\.ts$',
      [...client, builtins('fs/promises')],
      'main.ts alone reads files for the command line: the version and the documents named on the command line.',
    ),
    only(
      'bin-only-starts',
      '^bin/',
      [
        '^bin/',
        builtins('fs', 'path', 'process', 'child_process', 'crypto', 'url', 'module', 'os', 'v8', 'vm', 'zlib'),
      ],
      'bin/ starts the command line; in a checkout it first installs and builds.',
    ),
    only(
      'bench-stands-outside',
      '^bench/',
      [
        '^bench/',
        '^test/support/',
        builtins('fs', 'path', 'os', 'child_process', 'crypto', 'perf_hooks', 'timers/promises', 'util'),
        packages('esbuild'),
      ],
      'bench/ measures whole commands from outside, as their users see them, and knows nothing of what is in them.',
    ),
    {
      name: 'every-source-has-a-layer',
      severity: 'error',
      comment: 'A new folder needs a rule that says what it may import.',
      from: {
        path: '^src/',
        pathNot:
          '^src/((core|operations|fs|git|instance|run|scan|threads|snap|cli)/|(index|snap|errors|schemas)\\.ts$)',
      },
      to: {},
    },
    {
      name: 'git-libraries-stay-in-git',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/git/' },
      to: { path: '^node_modules/(isomorphic-git|simple-git)/' },
    },
    {
      name: 'child-processes-stay-in-git-and-run',
      severity: 'error',
      comment:
        "git/ starts git and the locking command, run/ the user's command and programs of the system. Nothing else is ever started.",
      from: { path: '^src/', pathNot: '^src/(git|run)/' },
      to: { path: '^child_process$' },
    },
    {
      name: 'nothing-imports-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'src-never-imports-test',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { path: '^(test|fixtures|bench)/' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^(src|bin)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
