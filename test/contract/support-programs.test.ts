import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap, runSnapJson, startSnap } from '../support/cli.js';
import { fsckStrict, pushToStrictServer, refsOf, storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

// A stand-in for the program, that tells how it was started.
function standIn(body: string): string {
  const path = join(tempDir('stand-in'), 'program.mjs');
  writeFileSync(path, body);
  return path;
}

const tell = `
  import { readFileSync } from 'node:fs';
  const args = process.argv.slice(2);
  const at = args.indexOf('--paths-from');
  const paths = at < 0 ? null : readFileSync(args[at + 1], 'latin1');
  if (at >= 0) args[at + 1] = 'FILE';
  const stdin = readFileSync(0, 'latin1');
  console.log(JSON.stringify({ args, paths, stdin, env: process.env, cwd: process.cwd() }));
  process.exitCode = 6;`;

test('the program sees a small environment and nothing of the surroundings', async () => {
  process.env['GIT_DIR'] = '/elsewhere';
  const run = await runSnap(['save'], { bin: standIn(tell), env: { NO_COLOR: '1' } });
  delete process.env['GIT_DIR'];

  const seen = JSON.parse(run.stdout) as { env: Record<string, string> };
  expect(run).toMatchObject({ code: 6, signal: null, stderr: '', timedOut: false });
  expect(Object.keys(seen.env).sort()).toEqual(['HOME', 'LC_ALL', 'NO_COLOR', 'PATH', 'TZ']);
});

test('arguments, names of any bytes, standard input and directory reach it', async () => {
  const cwd = tempDir();
  const args = ['restore', '1', '--', 'x'];
  const options = { bin: standIn(tell), cwd, dataDir: '/data', stdin: '\u00e9', pathsFrom: ['a\xff', 'b\n'] };
  const run = await runSnapJson(args, options);

  expect(run.document).toMatchObject({
    args: ['--data-dir', '/data', '--json', 'restore', '1', '--paths-from', 'FILE', '--', 'x'],
    paths: 'a\xff\0b\n\0',
    stdin: '\xc3\xa9',
    cwd,
  });
});

test('output that is not one JSON document is told in full', async () => {
  const bin = standIn(`console.log('{} trailing'); console.error('why');`);
  await expect(runSnapJson(['list'], { bin })).rejects.toThrow(/exit 0\nstdout: \{\} trailing\n\nstderr: why/);
});

test('a program that hangs is killed, with its children', async () => {
  const bin = standIn(`import { spawn } from 'node:child_process';
    spawn('sleep', ['600'], { stdio: 'inherit' }); setInterval(() => {}, 1000);`);
  const run = await runSnap([], { bin, timeout: 500 });
  expect(run).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true });
});

test('a program that was started can be signalled', async () => {
  const started = startSnap([], { bin: standIn(`setInterval(() => {}, 1000); console.log('up');`) });
  await new Promise((resolve) => started.child.stdout!.once('data', resolve));
  started.child.kill('SIGTERM');
  expect(await started.done).toMatchObject({ code: null, signal: 'SIGTERM', stdout: 'up\n' });
});

test('a clean store passes, and a strict server takes it', async () => {
  const dataDir = storeWith('100644 blob', 'fine');
  expect(fsckStrict(dataDir)).toEqual([]);
  const outcome = await pushToStrictServer(dataDir);
  expect(outcome).toMatchObject({ accepted: true, refs: refsOf(join(dataDir, 'store.git')) });
  expect([...outcome.refs.keys()]).toEqual(['refs/jackin/test/1']);
});

test('a tree with a forbidden name is complained about, and a strict server refuses it', async () => {
  const dataDir = storeWith('100644 blob', '.GIT');
  expect(fsckStrict(dataDir).join('\n')).toContain('hasDotgit');
  expect(await pushToStrictServer(dataDir)).toMatchObject({ accepted: false, refs: new Map() });
});

test('a missing object is complained about', () => {
  const dataDir = storeWith('100644 blob', 'fine', 'b'.repeat(40));
  expect(fsckStrict(dataDir).join('\n')).toContain('missing blob');
});

function storeWith(kind: string, name: string, blob?: string): string {
  const dataDir = tempDir();
  mkdirSync(join(dataDir, 'store.git'));
  storeGit(dataDir, ['init', '--quiet', '--bare']);
  const content = blob ?? storeGit(dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'x' }).stdout.trim();
  const tree = storeGit(dataDir, ['mktree', '--missing', '-z'], {
    stdin: `${kind} ${content}\t${name}\0`,
  }).stdout.trim();
  const author = 'jackin-snap <jackin-snap@localhost> 0 +0000';
  const commit = `tree ${tree}\nauthor ${author}\ncommitter ${author}\n\nx\n`;
  const id = storeGit(dataDir, ['hash-object', '-w', '-t', 'commit', '--stdin'], { stdin: commit }).stdout.trim();
  storeGit(dataDir, ['update-ref', 'refs/jackin/test/1', id]);
  return dataDir;
}
