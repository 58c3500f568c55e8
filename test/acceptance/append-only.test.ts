import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Scene, said } from './scene.js';

// A directory in which names can be made, but none can be renamed or removed.

describe.skipIf(!canAppendOnly())('a restore into an append-only directory', () => {
  let scene: Scene;

  beforeEach(async () => {
    scene = new Scene();
    scene.write({ 'log/a': 'a\n', 'log/b': 'b\n', other: '1\n' });
    await scene.save();
    scene.remove('log/a', 'log/b');
    scene.write({ 'log/new': 'n\n', other: '2\n' });
    appendOnly(scene.at('log'));
  });

  test('stays pending for what it cannot remove, and says what and why', async () => {
    const failed = await scene.json(['restore', '1', '--yes'], { code: 1 });
    expect(failed.document.error).toMatchObject({ code: 'SYSTEM_FAILED', paths: temporaries(scene) });
    expect(said(failed)).toMatch(/log\/\.jackin-.* in mount m \(EPERM\)\. The restore is pending\./);
    expect(said(failed)).toContain('with --force they are left');
    expect(scene.read('other')).toBe('1\n');
    await scene.json(['recover', '--continue', '--yes'], { code: 1 });
    expect(temporaries(scene)).toHaveLength(1);
  });

  test.each([
    { way: '--continue', log: ['a', 'b', 'new'], other: '1\n', code: 6 },
    { way: '--abort', log: ['a', 'new'], other: '2\n', code: 6 },
  ])('is ended there by "recover $way --force"', async ({ way, log, other, code }) => {
    await scene.json(['restore', '1', '--yes'], { code: 1 });
    const ended = await scene.json(['recover', way, '--yes', '--force'], { code });
    const named = (ended.data.failed as { path: string; reason: string }[]).filter(
      ({ reason }) => reason === 'temporary_left',
    );
    expect(named.map(({ path }) => path).sort()).toEqual(temporaries(scene));
    const names = readdirSync(scene.at('log')).filter((name) => !name.startsWith('.jackin-'));
    expect([names.sort(), scene.read('other')]).toEqual([log, other]);
    await scene.run(['recover', '--continue', '--yes'], { code: 3 });
    await scene.save();
  });

  test.each([
    { way: '--continue', log: ['a', 'b'], other: '1\n' },
    { way: '--abort', log: ['new'], other: '2\n' },
  ])('is ended for good by "recover $way" when names can be removed again', async ({ way, log, other }) => {
    await scene.json(['restore', '1', '--yes'], { code: 1 });
    changeable(scene.at('log'));
    await scene.json(['recover', way, '--yes']);
    expect([readdirSync(scene.at('log')).sort(), scene.read('other')]).toEqual([log, other]);
  });
});

function temporaries(scene: Scene): string[] {
  return readdirSync(scene.at('log'))
    .filter((name) => name.startsWith('.jackin-'))
    .map((name) => `log/${name}`)
    .sort();
}

function appendOnly(path: string): void {
  expect(spawnSync('chattr', ['+a', path]).status).toBe(0);
  onTestFinished(() => {
    changeable(path);
  });
}

function changeable(path: string): void {
  spawnSync('chattr', ['-a', path]);
}

function canAppendOnly(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'jackin-append-'));
  const can = spawnSync('chattr', ['+a', path]).status === 0;
  changeable(path);
  rmSync(path, { recursive: true });
  return can;
}
