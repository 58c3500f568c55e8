import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { removeTree } from '../support/remove-tree.js';
import { Stage, interrupted, now } from './killed-restore.js';
import { Scene, expectSame, remember, rememberUntouched, said } from './scene.js';

describe('a restore that was killed in the middle', () => {
  test('of several mounts is finished or taken back in all of them', async () => {
    const stage = new Stage(['one', 'two']);
    const { wasThen, wasNow, moments } = await stage.begin();
    const [before, inFirst, inSecond] = [moments[0]!, moments.at(-1)! >> 2, moments.at(-1)! - 5];
    for (const at of [before, inFirst, inSecond]) {
      await stage.kill(['restore', '1', '--yes'], at);
      await stage.run(['recover', '--abort', '--yes']);
      expectSame(wasNow, `killed at ${at}, taken back: the mounts`);
      await stage.kill(['restore', '1', '--yes'], at);
      await stage.run(['recover', '--continue', '--yes']);
      expectSame(wasThen, `killed at ${at}, finished: the mounts`);
      stage.fill(now);
    }
    stage.expectNothingLeft();
  });

  test.each([
    { first: '--continue', second: '--abort' },
    { first: '--abort', second: '--continue' },
    { first: '--abort', second: '--abort' },
    { first: '--continue', second: '--continue' },
  ])('and whose "recover $first" was killed, too, is ended by "recover $second"', async ({ first, second }) => {
    const stage = new Stage(['one']);
    const { wasThen, wasNow, moments } = await stage.begin();
    const [early, middle] = [moments[9]!, moments.at(-1)! >> 1];
    await stage.kill(['restore', '1', '--yes'], middle);
    await stage.kill(['recover', first, '--yes'], early);
    stage.expectNothingHalfWritten();
    await stage.kill(['recover', second, '--yes'], 3);
    stage.expectNothingHalfWritten();
    await stage.run(['recover', second, '--yes']);
    expectSame(second === '--abort' ? wasNow : wasThen);
    stage.expectNothingLeft();
  });

  test('is not gone on with by the same restore once it is being taken back', async () => {
    const stage = new Stage(['one']);
    const { wasNow, moments } = await stage.begin();
    await stage.kill(['restore', '1', '--yes'], moments.at(-1)! >> 1);
    await stage.kill(['recover', '--abort', '--yes'], 3);
    expect(said(await stage.run(['restore', '1', '--yes'], { code: 4 }))).toContain('recover --abort');
    await stage.run(['recover', '--abort', '--yes']);
    expectSame(wasNow);
    stage.expectNothingLeft();
  });

  test('has nothing left to recover once it was recovered', async () => {
    const { scene } = await interrupted();
    await scene.run(['recover', '--continue', '--yes']);
    const untouched = rememberUntouched(scene.mount);
    for (const way of ['--continue', '--abort']) {
      const again = await scene.json(['recover', way, '--yes'], { code: 3 });
      expect(again.document.error?.code).toBe('NOTHING_PENDING');
    }
    expectSame(untouched);
  });

  test.each([
    { way: '--continue', code: 6, named: ['z'] },
    { way: '--abort', code: 0, named: [] },
  ])('names what its plan could not have when it is ended by "recover $way"', async ({ way, code, named }) => {
    const { scene } = await interrupted(undefined, (mount) => {
      rmSync(join(mount, 'z'));
      spawnSync('mkfifo', [join(mount, 'z')]);
    });
    const { data } = await scene.json(['recover', way, '--yes'], { code });
    expect(data.failed.map(({ path }: { path: string }) => path)).toEqual(named);
    expect(data.post_rollback_state.active_snapshot === null).toBe(code === 6);
  });

  test('held everything in its emergency snapshot before its first change', async () => {
    const { scene, wasNow } = await interrupted(1);
    expectSame(wasNow);
    const { seq } = await scene.emergency();
    expect(await scene.content(seq, 'a')).toBe('2');
    expect(await scene.content(seq, 'new/file')).toBe('new');
    await scene.run(['recover', '--abort', '--yes']);
    expectSame(wasNow);
  });

  test('is not pending when it was killed before its first change was planned', async () => {
    const { scene, wasNow } = await interrupted(1);
    const [journal] = journalsOf(scene);
    writeFileSync(journal!, readFileSync(journal!, 'utf8').split('\n').slice(0, 2).join('\n') + '\n');
    expectSame(wasNow);
    await scene.run(['recover', '--abort', '--yes'], { code: 3 });
    expect(existsSync(journal!)).toBe(false);
    const listed = await scene.run(['list']);
    expect(said(listed)).not.toMatch(/recover/);
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });

  test.each([
    { moment: 'before its plan was whole', keep: (text: string) => text.slice(0, text.indexOf('\n') + 1) },
    {
      moment: 'when it was done',
      keep: (text: string) => `${text}${journalLine('{"kind":"done"}')}`,
    },
  ])('leaves no journal behind the next save when it was killed $moment', async ({ keep }) => {
    const { scene } = await interrupted();
    const [journal] = journalsOf(scene);
    writeFileSync(journal!, keep(readFileSync(journal!, 'utf8')));
    await scene.save();
    expect(existsSync(journal!)).toBe(false);
  });

  test('survives a torn last line of its journal', async () => {
    const { scene, wasNow } = await interrupted();
    appendFileSync(journalsOf(scene)[0]!, '0123456789abcdef {"kind":"le');
    await scene.run(['recover', '--abort', '--yes']);
    expectSame(wasNow);
  });

  test('is not acted on when its journal is damaged in the middle', async () => {
    const { scene } = await interrupted();
    const [journal] = journalsOf(scene);
    const lines = readFileSync(journal!, 'utf8').split('\n');
    lines[1] = lines[1]!.replace('overwrite', 'deletexxx');
    writeFileSync(journal!, lines.join('\n'));
    const untouched = rememberUntouched(scene.mount);
    const failed = await scene.json(['recover', '--abort', '--yes'], { code: 7 });
    expect(failed.document.error?.code).toBe('JOURNAL_DAMAGED');
    expectSame(untouched);
  });

  test('leaves alone, and names, what somebody changed since', async () => {
    const { scene } = await interrupted();
    scene.write({ a: 'by hand', 'new/file': 'by hand' });
    const aborted = await scene.json(['recover', '--abort', '--yes'], { code: 6 });
    expect(aborted.data.failed.map(({ path }: { path: string }) => path)).toContain('a');
    expect(scene.read('a')).toBe('by hand');
    expect(scene.read('new/file')).toBe('by hand');
    expect(scene.read('z')).toBe('2');
    await scene.run(['recover', '--abort', '--yes'], { code: 3 });
  });

  test('asks before it is recovered, and stays pending without an answer', async () => {
    const { scene, wasThen } = await interrupted();
    const untouched = rememberUntouched(scene.mount);
    for (const way of ['--continue', '--abort']) await scene.run(['recover', way], { code: 5 });
    await scene.run(['recover', '--continue', '--abort', '--yes'], { code: 2 });
    await scene.run(['recover', '--yes'], { code: 2 });
    expectSame(untouched);
    await scene.run(['recover', '--continue', '--yes']);
    expectSame(wasThen);
  });

  test('is told by every other command, with both ways out', async () => {
    const { scene } = await interrupted();
    for (const args of [['list'], ['show', '1'], ['tree', '1'], ['diff', '1', '1'], ['instance', 'show'], ['verify']]) {
      const told = await scene.run(args);
      expect(told.stderr, args.join(' ')).toMatch(/recover --continue[^]*recover --abort/);
      expect(told.stdout, args.join(' ')).not.toMatch(/recover --/);
    }
    const listed = await scene.json(['list']);
    expect(listed.document.messages.join('\n')).toMatch(/recover --continue[^]*recover --abort/);
    expect((await scene.json(['instance', 'show'])).data.instance.pending_restore).toBe(true);
    expect(said(await scene.run(['doctor'], { code: [0, 1, 4, 7, 9] }))).toMatch(/recover|pending/);
  });

  test('keeps out every other restore of the instance, with nothing changed', async () => {
    const { scene, wasThen } = await interrupted();
    const { seq } = await scene.emergency();
    const untouched = rememberUntouched(scene.mount);
    const others = [
      ['restore', '2'],
      ['restore', String(seq)],
      ['restore', '1', '--force', 'b'],
      ['restore', '1', '--no-delete'],
      ['restore', '1', '--', 'a'],
      ['undo'],
      ['undo', '--force'],
    ];
    for (const args of others) {
      const refused = await scene.json([...withYes(args)], { code: 4 });
      expect(refused.document.error?.code, args.join(' ')).toBe('RESTORE_PENDING');
      expect(refused.document.error?.hint).toMatch(/recover --continue[^]*recover --abort/);
    }
    expectSame(untouched);
    await scene.run(['recover', '--continue', '--yes']);
    expectSame(wasThen);
    await scene.restore(2);
    expect(scene.read('a')).toBe('second');
  });

  test('does not keep out a look, a copy elsewhere, or another instance', async () => {
    const { scene, wasThen } = await interrupted();
    const untouched = rememberUntouched(scene.mount);
    await scene.restore(2, ['--dry-run']);
    await scene.restore(1, ['--to', join(scene.area, 'copy')]);
    await scene.run(['export', '2', join(scene.area, 'export')]);
    expectSame(untouched);
    expect(readFileSync(join(scene.area, 'copy/a'), 'utf8')).toBe('1');
    const other = scene.folder('other', { f: '1' });
    await scene.save([], { dirs: [other], instance: 'o' });
    writeFileSync(join(other, 'f'), '2');
    await scene.restore(1, [], { instance: 'o' });
    expect(readFileSync(join(other, 'f'), 'utf8')).toBe('1');
    await scene.run(['recover', '--continue', '--yes']);
    expectSame(wasThen);
  });

  test('keeps the snapshots that it needs from deletion and retention', async () => {
    const { scene, wasNow } = await interrupted();
    const { seq } = await scene.emergency();
    for (const snapshot of ['1', String(seq)]) await scene.run(['delete', snapshot, '--yes'], { code: 4 });
    await scene.run(['instance', 'set', 'keep_emergency=0', 'keep_last=1']);
    await scene.save();
    await scene.run(['prune', '--yes']);
    await scene.run(['gc']);
    expect(await scene.numbers()).toEqual(expect.arrayContaining([1, seq]));
    await scene.run(['recover', '--abort', '--yes']);
    expectSame(wasNow);
  });

  test('is saved without what it had under construction', async () => {
    const { scene } = await interrupted();
    const saved = await scene.save();
    const { seq } = saved.data.snapshot;
    const { data } = await scene.json(['tree', String(seq)]);
    expect(data.entries.filter(({ path }: { path: string }) => path.includes('.jackin'))).toEqual([]);
    expect(saved.data.complete).toBe(true);
    await scene.run(['recover', '--continue', '--yes']);
  });

  test('is refused, not guessed at, when the folder is gone or another one', async () => {
    const { scene, wasThen } = await interrupted();
    const moved = join(scene.area, 'moved');
    renameSync(scene.mount, moved);
    for (const way of ['--continue', '--abort'])
      await scene.run(['recover', way, '--yes'], { cwd: scene.outside, code: 4 });
    scene.folder('m', { mine: 'mine' });
    const stranger = rememberUntouched(scene.mount);
    for (const way of ['--continue', '--abort'])
      await scene.run(['recover', way, '--yes'], { cwd: scene.outside, code: 4 });
    expectSame(stranger);
    removeTree(scene.mount);
    renameSync(moved, scene.mount);
    await scene.run(['recover', '--continue', '--yes']);
    expectSame(wasThen);
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a restore that gets %s ends between two paths and can go on',
  async (name) => {
    const scene = new Scene();
    const names = Array.from({ length: 3000 }, (_, index) => `f${index}`);
    scene.write(Object.fromEntries(names.map((path) => [path, `1 ${path}`])));
    await scene.save();
    const wasThen = remember(scene.mount);
    scene.write(Object.fromEntries(names.map((path) => [path, `2 ${path}`])));
    const wasNow = remember(scene.mount);
    const started = scene.start(['restore', '1', '--yes']);
    const begun = setInterval(() => {
      if (scene.read('f0') !== '1 f0') return;
      // Once: a second one would end it at once.
      clearInterval(begun);
      started.child.kill(name);
    }, 2);
    const { code, signal, stderr } = await started.done.finally(() => clearInterval(begun));
    // A shell says 130 or 143 of both.
    expect([code, signal]).toEqual(signal === null ? [name === 'SIGINT' ? 130 : 143, null] : [null, name]);
    expect(stderr).toMatch(/pending[^]*recover --continue[^]*recover --abort/);
    const contents = names.map((path) => scene.read(path));
    expect(contents.every((content, index) => [`1 f${index}`, `2 f${index}`].includes(content!))).toBe(true);
    if (name === 'SIGINT') {
      await scene.run(['recover', '--abort', '--yes']);
      expectSame(wasNow);
    } else {
      await scene.restore(1);
      expectSame(wasThen);
    }
  },
);

/** Snapshots 1 and 2, and a restore of 1 that was killed just before one of its changes. */
function journalLine(body: string): string {
  return `${createHash('sha256').update(body).digest('hex').slice(0, 16)} ${body}\n`;
}

function journalsOf(scene: Scene): string[] {
  return [join(scene.dataDir, 'journals', 't.journal')];
}

function withYes(args: readonly string[]): string[] {
  const [command = '', ...rest] = args;
  return [command, '--yes', ...rest];
}
