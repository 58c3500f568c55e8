import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { snapBin } from '../support/cli.js';
import { Scene, canMount, expectSame, remember } from './scene.js';

// Findings of an adversary who only runs the program.

test('a path is not linked to another of its group that has changed', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n', c: 'then\n' });
  linkSync(scene.at('a'), scene.at('b'));
  await scene.save();
  rmSync(scene.at('a'));
  rmSync(scene.at('b'));
  scene.write({ a: 'now!\n' });
  await scene.restore(1, ['--', 'b']);
  expect([scene.read('a'), scene.read('b')]).toEqual(['now!\n', 'then\n']);
});

test('undo takes back what is left of a restore when part of it is gone again', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n', b: 'then\n' });
  await scene.save();
  scene.remove('a');
  scene.write({ b: 'now\n' });
  await scene.restore(1, ['--', 'a', 'b']);
  scene.remove('a');
  await scene.undo();
  expect([scene.has('a'), scene.read('b')]).toEqual([false, 'now\n']);
});

test('content that is damaged stops a restore before anything changes', async () => {
  const scene = new Scene();
  const text = 'some content that deflates to a few bytes\n'.repeat(3);
  scene.write({ a: 'a\n', b: text, c: 'c\n' });
  await scene.save();
  scene.write({ a: 'A\n', b: 'B\n', c: 'C\n' });
  const now = remember(scene.mount);
  damageBlob(scene.store, text);
  const refused = await scene.restore(1, [], { code: 7 });
  expect(JSON.stringify(refused.document)).toContain('b cannot be restored');
  expectSame(now);
  expect(await scene.numbers()).toEqual([1]);
  await scene.restore(1, ['--', 'a', 'c']);
  expect([scene.read('a'), scene.read('b'), scene.read('c')]).toEqual(['a\n', 'B\n', 'c\n']);
});

test.runIf(canMount())('a bind mount of the same file system is another file system', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n' });
  mkdirSync(scene.at('bound here'));
  await scene.save();
  scene.write({ a: 'now\n' });
  const elsewhere = scene.folder('elsewhere', { precious: 'precious\n' });
  const program = `'${process.execPath}' '${snapBin}' --data-dir '${scene.dataDir}' -i t`;
  const commands = `mount --bind '${elsewhere}' 'bound here' && { ${program} restore 1 --yes; test $? -eq 6; } && ${program} save --json`;
  const run = spawnSync('unshare', ['--mount', 'sh', '-c', commands], { cwd: scene.mount, encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  expect(readdirSync(elsewhere)).toEqual(['precious']);
  expect(scene.read('a')).toBe('then\n');
  expect(run.stdout).toContain('foreign_fs');
});

test('a number is not used twice because its record cannot be read', async () => {
  const scene = new Scene();
  scene.write({ a: '1\n' });
  await scene.save();
  scene.write({ a: '2\n' });
  await scene.save();
  await scene.run(['delete', '2', '--yes']);
  const record = join(scene.dataDir, 'instances/t/last-seq');
  writeFileSync(record, '\u0015\n');
  await scene.save([], { code: 2 });
  writeFileSync(record, '2\n');
  const saved = await scene.save();
  expect(saved.data.snapshot.seq).toBe(3);
});

test('a stray file beside the instances does no harm', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n' });
  await scene.save();
  writeFileSync(join(scene.dataDir, 'instances/.DS_Store'), '');
  scene.write({ a: 'now\n' });
  await scene.restore();
  expect(scene.read('a')).toBe('then\n');
  await scene.save();
});

/** Changes a byte of the deflated content of a blob that is stored whole. */
function damageBlob(store: string, text: string): void {
  const git = (args: string[], input: string | Buffer): string =>
    spawnSync('git', [`--git-dir=${store}`, ...args], { input }).stdout.toString();
  const oid = git(['hash-object', '--stdin'], text).trim();
  for (const name of readdirSync(join(store, 'objects/pack')).filter((file) => file.endsWith('.idx'))) {
    const index = join(store, 'objects/pack', name);
    const line = git(['show-index'], readFileSync(index))
      .split('\n')
      .find((found) => found.includes(oid));
    if (line === undefined) continue;
    const pack = index.replace(/idx$/, 'pack');
    const bytes = readFileSync(pack);
    const at = Number(line.split(' ')[0]) + 8;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    chmodSync(pack, 0o600);
    writeFileSync(pack, bytes);
  }
}
