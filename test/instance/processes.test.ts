import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';

import { activeOwner } from '../../src/core/activity.js';
import { linuxProcesses } from '../../src/instance/processes.js';
import { tempDir } from '../support/temp.js';

function started(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('a process', () => {
  test('is known by the moment when it started', async () => {
    const first = started('sleep', ['60']);
    const own = linuxProcesses.startOf(process.pid);
    expect([linuxProcesses.startOf(first.pid!), own]).toEqual([
      expect.stringMatching(/^\d+$/),
      expect.stringMatching(/^\d+$/),
    ]);
    expect(linuxProcesses.startOf(process.pid)).toBe(own);
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(linuxProcesses.startOf(first.pid!)).toBeUndefined();
  });

  test('that is none has no start', () => {
    for (const pid of [0, 2 ** 22 + 1, 2 ** 31 - 1]) expect(linuxProcesses.startOf(pid)).toBeUndefined();
  });

  test('whose name has blanks and parentheses is read past them', () => {
    const program = join(tempDir(), ') R 1 (x');
    copyFileSync('/bin/sleep', program);
    const child = started(program, ['60']);
    expect(readFileSync(`/proc/${child.pid!}/stat`, 'latin1')).toContain('() R 1 (x)');
    const start = Number(linuxProcesses.startOf(child.pid!));
    expect(start).toBeGreaterThanOrEqual(Number(linuxProcesses.startOf(process.pid)));
  });

  test('that has ended is gone, though its parent has not looked yet', async () => {
    // The shell makes way for a program that never waits for its child; only then may the child end.
    const script = 'cat <&3 & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const name = (): string => readFileSync(`/proc/${parent.pid!}/comm`, 'latin1').trim();
    await expect.poll(name, { interval: 5, timeout: 10_000 }).toBe('sleep');
    expect(linuxProcesses.startOf(pid)).toMatch(/^\d+$/);
    (parent.stdio[3] as Writable).end();
    await expect.poll(() => stateOf(pid), { interval: 5, timeout: 10_000 }).toBe('Z');
    expect(linuxProcesses.startOf(pid)).toBeUndefined();
  });

  test('whose number is used again is not the owner any more', () => {
    const child = started('sleep', ['60']);
    const bootId = linuxProcesses.bootId();
    const activity = (start: string): string => JSON.stringify({ pid: child.pid!, start, bootId });
    const start = linuxProcesses.startOf(child.pid!)!;
    expect(activeOwner(activity(start), linuxProcesses)).toBe(`process ${child.pid!}`);
    expect(activeOwner(activity(String(Number(start) - 1)), linuxProcesses)).toBeNull();
  });
});

test('a start of the machine has an id of its own', () => {
  expect(linuxProcesses.bootId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

function stateOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.charAt(text.lastIndexOf(')') + 2);
}
