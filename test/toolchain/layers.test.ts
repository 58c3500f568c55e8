import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkout, copyFromCheckout, makeScratch, writeFiles } from './scratch.js';

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

interface Row {
  readonly rule: string;
  readonly file: string;
  readonly imports: string;
}

const offences: readonly Row[] = [
  { rule: 'errors-import-nothing', file: 'src/errors.ts', imports: './core/target.js' },
  { rule: 'core-is-pure', file: 'src/core/reads-disk.ts', imports: 'node:fs' },
  { rule: 'core-is-pure', file: 'src/core/reads-disk-later.ts', imports: 'node:fs/promises' },
  { rule: 'core-is-pure', file: 'src/core/uses-adapter.ts', imports: '../fs/target.js' },
  { rule: 'core-is-pure', file: 'src/core/makes-ids.ts', imports: 'ulid' },
  { rule: 'schemas-describe-core', file: 'src/schemas.ts', imports: './operations/target.js' },
  { rule: 'operations-see-ports-only', file: 'src/operations/uses-fs.ts', imports: '../fs/target.js' },
  { rule: 'operations-see-ports-only', file: 'src/operations/uses-git.ts', imports: '../git/target.js' },
  { rule: 'operations-see-ports-only', file: 'src/operations/reads-disk.ts', imports: 'node:fs' },
  { rule: 'operations-see-ports-only', file: 'src/operations/parses.ts', imports: 'zod' },
  { rule: 'fs-adapter', file: 'src/fs/knows-git.ts', imports: '../git/target.js' },
  { rule: 'fs-adapter', file: 'src/fs/opens-sockets.ts', imports: 'node:net' },
  { rule: 'git-adapter', file: 'src/git/scans.ts', imports: '../fs/target.js' },
  { rule: 'git-adapter', file: 'src/git/opens-sockets.ts', imports: 'node:http' },
  { rule: 'instance-adapter', file: 'src/instance/knows-git.ts', imports: '../git/target.js' },
  { rule: 'instance-adapter', file: 'src/instance/knows-fs.ts', imports: '../fs/target.js' },
  { rule: 'run-adapter', file: 'src/run/knows-git.ts', imports: '../git/target.js' },
  { rule: 'threads-join-both-sides', file: 'src/threads/starts-programs.ts', imports: 'node:child_process' },
  { rule: 'scan-adapter', file: 'src/scan/knows-git.ts', imports: '../git/target.js' },
  { rule: 'snap-joins', file: 'src/snap.ts', imports: 'node:fs' },
  { rule: 'index-is-the-door', file: 'src/index.ts', imports: './fs/target.js' },
  { rule: 'cli-is-a-client', file: 'src/cli/goes-deep.ts', imports: '../core/target.js' },
  { rule: 'cli-is-a-client', file: 'src/cli/reads-disk.ts', imports: 'node:fs' },
  { rule: 'cli-is-a-client', file: 'src/cli/asks-os.ts', imports: 'node:os' },
  { rule: 'main-brings-the-surroundings', file: 'src/cli/main.ts', imports: 'node:fs' },
  { rule: 'bin-only-starts', file: 'bin/goes-deep.mjs', imports: '../src/core/target.js' },
  { rule: 'bin-only-starts', file: 'bin/parses.mjs', imports: 'zod' },
  { rule: 'bench-stands-outside', file: 'bench/looks-inside.ts', imports: '../src/core/target.js' },
  { rule: 'bench-stands-outside', file: 'bench/takes-a-library.ts', imports: 'zod' },
  { rule: 'every-source-has-a-layer', file: 'src/stray/lost.ts', imports: '../core/target.js' },
  { rule: 'every-source-has-a-layer', file: 'src/stray.ts', imports: './core/target.js' },
  { rule: 'git-libraries-stay-in-git', file: 'src/operations/commits.ts', imports: 'isomorphic-git' },
  { rule: 'git-libraries-stay-in-git', file: 'src/fs/commits.ts', imports: 'simple-git' },
  { rule: 'child-processes-stay-in-git-and-run', file: 'src/fs/spawns.ts', imports: 'node:child_process' },
  { rule: 'child-processes-stay-in-git-and-run', file: 'src/cli/spawns.ts', imports: 'node:child_process' },
  { rule: 'nothing-imports-cli', file: 'src/operations/prints.ts', imports: '../cli/target.js' },
  { rule: 'no-cycles', file: 'src/core/selfish.ts', imports: './selfish-friend.js' },
  { rule: 'no-unresolved', file: 'src/core/dangling.ts', imports: './not-there.js' },
  { rule: 'src-never-imports-test', file: 'src/core/tested.ts', imports: '../../test/target.js' },
  { rule: 'no-dev-dependency-in-src', file: 'src/core/generates.ts', imports: 'fast-check' },
];

const allowed: readonly Omit<Row, 'rule'>[] = [
  { file: 'src/core/ok-ignore.ts', imports: 'ignore' },
  { file: 'src/core/ok-zod.ts', imports: 'zod' },
  { file: 'src/operations/ok-core.ts', imports: '../core/target.js' },
  { file: 'src/fs/ok-disk.ts', imports: 'node:fs/promises' },
  { file: 'src/fs/ok-worker.ts', imports: 'node:worker_threads' },
  { file: 'src/git/ok-durable.ts', imports: '../fs/durable.js' },
  { file: 'src/git/ok-spawn.ts', imports: 'node:child_process' },
  { file: 'src/git/ok-library.ts', imports: 'simple-git' },
  { file: 'src/instance/ok-disk.ts', imports: 'node:fs' },
  { file: 'src/run/ok-spawn.ts', imports: 'node:child_process' },
  { file: 'src/cli/ok-library.ts', imports: '../index.js' },
  { file: 'src/cli/ok-errors.ts', imports: '../errors.js' },
  { file: 'src/cli/ok-prompt.ts', imports: '@inquirer/confirm' },
  { file: 'src/cli/ok-progress.ts', imports: 'cli-progress' },
  { file: 'bin/ok-disk.mjs', imports: 'node:fs' },
  { file: 'bench/ok-spawn.ts', imports: 'node:child_process' },
  { file: 'bench/ok-random.ts', imports: '../test/support/target.js' },
  { file: 'test/ok-anything.ts', imports: '../src/core/target.js' },
];

describe('the layer rules', () => {
  const project = makeScratch();
  let violations: readonly Violation[];

  beforeAll(() => {
    copyFromCheckout(project, ['package.json', 'tsconfig.json', '.dependency-cruiser.mjs']);
    writeFiles(project, emptyPackages());
    for (const target of ['core', 'operations', 'fs', 'git', 'instance', 'run', 'cli']) {
      writeFiles(project, { [`src/${target}/target.ts`]: 'export const target = 1;\n' });
    }
    writeFiles(project, { 'test/support/target.ts': 'export const target = 1;\n' });
    writeFiles(project, { 'test/target.ts': 'export const target = 1;\n', 'src/fs/durable.ts': 'export {};\n' });
    writeFiles(project, { 'src/core/selfish-friend.ts': `import './selfish.js';\n` });
    for (const { file, imports } of [...offences, ...allowed])
      writeFiles(project, { [file]: `import '${imports}';\n` });
    violations = cruise(project);
  });

  test.each(offences)('report $rule: $file imports $imports', ({ rule, file }) => {
    // A cycle is reported once, from either end.
    const about = violations.filter(({ from, to }) => from === file || (rule === 'no-cycles' && to === file));
    expect(about.map((violation) => violation.rule.name)).toContain(rule);
  });

  test.each(allowed)('allow $file to import $imports', ({ file }) => {
    expect(violations.filter(({ from }) => from === file)).toEqual([]);
  });

  test('have been seen to fail, each of them', async () => {
    const config = await import(pathToFileURL(join(checkout, '.dependency-cruiser.mjs')).href);
    const names = config.default.forbidden.map(({ name }: { name: string }) => name);
    expect([...new Set(offences.map(({ rule }) => rule))].sort()).toEqual(names.sort());
  });
});

// A stand-in for each declared package: the rules look at names and kinds of dependencies only.
function emptyPackages(): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith('@types/'));
  return Object.fromEntries(
    names.flatMap((name) => [
      [
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, version: '1.0.0', license: 'MIT', main: 'index.js' }),
      ],
      [`node_modules/${name}/index.js`, ''],
    ]),
  );
}

function cruise(project: string): Violation[] {
  const tool = join(checkout, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [tool, '--output-type', 'json', 'src', 'test', 'bin', 'bench'],
    {
      cwd: project,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout).summary.violations;
}
