import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { fsckStrict, refsOf } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { collectGarbage, openingIn, preparedStore, publishSnapshot, runScript } from './fixture.js';

const saving = `
  const writer = store.newWriter();
  const tree = writer.writeTree([{ mode: 0o100644, name: 'a', oid: writer.writeBlob(Buffer.alloc(50_000_000, Math.random().toString())) }]);
  const commit = writer.writeCommit(Buffer.from('tree ' + tree + '\\nauthor t <t@t> 1 +0000\\ncommitter t <t@t> 1 +0000\\n\\nm\\n'));
  const noise = writer.writeBlob((await import('node:crypto')).randomBytes(40_000_000));`;

describe('a process that is killed', () => {
  test.each([
    {
      moment: 'while it writes',
      script: `console.log('now'); setInterval(() => {}, 1000);`,
      packs: 2,
      leftovers: true,
    },
    {
      moment: 'after it published',
      script: `await writer.publish(); console.log('now'); setInterval(() => {}, 1000);`,
      packs: 4,
      leftovers: false,
    },
  ])('$moment leaves the old state, and a sweep removes the rest', async ({ script, packs, leftovers }) => {
    const { store, dataDir, directory } = await preparedStore();
    const commit = await publishSnapshot(store, 1, { a: 'a' });
    expect(store.hasLeftovers()).toBe(false);
    const { code } = await runScript(
      `${openingIn(dataDir)}${saving}${script}`,
      {},
      (_, child) => void child.kill('SIGKILL'),
    );
    expect(code).toBeNull();
    expect(refsOf(directory)).toEqual(new Map([['refs/jackin/t/1', commit]]));
    expect(readdirSync(join(directory, 'objects/pack'))).toHaveLength(packs);
    expect(fsckStrict(dataDir)).toEqual([]);
    expect(store.hasLeftovers()).toBe(leftovers);
    await store.sweep();
    expect(store.hasLeftovers()).toBe(false);
    await collectGarbage(store);
    expect(readdirSync(join(directory, 'objects/pack'))).toHaveLength(3);
  });
});

test.each(['cache/verified', 'store.git/config'])(
  'an unfinished file beside %s is seen and swept, though nothing else was left',
  async (file) => {
    const { store, dataDir } = await preparedStore();
    await publishSnapshot(store, 1, { a: 'a' });
    const unfinished = join(dataDir, `${file}.0123456789abcdef.new`);
    mkdirSync(dirname(unfinished), { recursive: true });
    writeFileSync(unfinished, '');
    expect(store.hasLeftovers()).toBe(true);
    await store.sweep();
    expect(store.hasLeftovers()).toBe(false);
    expect(existsSync(unfinished)).toBe(false);
  },
);

const canTrace = existsSync('/usr/bin/strace');

describe.runIf(canTrace)('the order of writes', () => {
  test('is: content, then names, then their directory, then the ref, then its directories', async () => {
    const area = await preparedStore();
    const trace = join(tempDir('trace'), 'trace');
    const script = `${openingIn(area.dataDir)}${saving}
      await writer.publish();
      await store.changeRefs([{ name: 'refs/jackin/t/1', old: null, new: commit }]);`;
    await traced(trace, script);
    const calls = readFileSync(trace, 'utf8');
    const steps = [
      /fsync\(\d+<[^>]*\/tmp\/[0-9a-f]+\/pack>\) += 0/,
      /fsync\(\d+<[^>]*\/tmp\/[0-9a-f]+\/index>\) += 0/,
      /rename[^\n]*\/tmp\/[0-9a-f]+\/pack"[^\n]*objects\/pack\/pack-[0-9a-f]+\.pack"/,
      /rename[^\n]*\/tmp\/[0-9a-f]+\/index"[^\n]*objects\/pack\/pack-[0-9a-f]+\.idx"/,
      /fsync\(\d+<[^>]*objects\/pack>\) += 0/,
      /fsync\(\d+<[^>]*refs\/jackin\/t\/1\.lock>\) += 0/,
      /rename[^\n]*refs\/jackin\/t\/1\.lock"[^\n]*refs\/jackin\/t\/1"/,
      /fsync\(\d+<[^>]*refs\/jackin\/t>\) += 0/,
      /fsync\(\d+<[^>]*refs\/jackin>\) += 0/,
      /fsync\(\d+<[^>]*refs>\) += 0/,
    ];
    const places = steps.map((step) => calls.search(step));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test('ends where an fsync fails, and is not tried again', async () => {
    const { store, dataDir, directory } = await preparedStore();
    await publishSnapshot(store, 1, { a: 'a' });
    for (const failing of [1, 2, 3]) {
      const trace = join(tempDir('trace'), 'trace');
      const script = `${openingIn(dataDir)}${saving}
        await writer.publish().then(() => console.log('published'), (error) => console.log(error.code));`;
      expect(await traced(trace, script, ['-e', `inject=fsync:error=EIO:when=${failing}`])).toContain('EIO');
      expect(readFileSync(trace, 'utf8').match(/fsync\(/g)).toHaveLength(failing);
      expect(readdirSync(join(directory, 'objects/pack'))).toHaveLength(2);
      expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
    }
  });
});

/** Runs the script under strace, what it renames and syncs in `trace`; its output. */
async function traced(trace: string, script: string, options: readonly string[] = []): Promise<string> {
  const { text, errors } = await runScript(script, { UV_THREADPOOL_SIZE: '1' }, undefined, (command) => [
    '/usr/bin/strace',
    ['-f', '-y', '-qq', '-o', trace, '-e', 'trace=fsync,fdatasync,rename,renameat,renameat2', ...options, ...command],
  ]);
  expect(errors).toBe('');
  return text;
}
