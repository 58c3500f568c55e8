import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { listenToSignals } from '../../src/cli/signals.js';

function fakeProcess() {
  const killed: string[] = [];
  const emitter = new EventEmitter();
  const source = Object.assign(emitter, { pid: 7, kill: (_pid: number, name: string) => (killed.push(name), true) });
  return { source: source as unknown as NodeJS.Process, killed, emitter };
}

describe('signals', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s aborts with its name', (name) => {
    const { source, emitter, killed } = fakeProcess();
    const { signal } = listenToSignals(source);
    emitter.emit(name, name);
    expect({ aborted: signal.aborted, reason: signal.reason as unknown, killed }).toEqual({
      aborted: true,
      reason: name,
      killed: [],
    });
  });

  test('a second SIGINT ends the process the way the system would', () => {
    let now = 0;
    const { source, emitter, killed } = fakeProcess();
    listenToSignals(source, () => now);
    emitter.emit('SIGINT', 'SIGINT');
    now = 100;
    emitter.emit('SIGINT', 'SIGINT');
    expect(killed).toEqual([]);
    now = 2000;
    emitter.emit('SIGINT', 'SIGINT');
    expect(killed).toEqual(['SIGINT']);
    expect(emitter.listenerCount('SIGINT')).toBe(0);
  });

  test('a second SIGTERM does not', () => {
    let now = 0;
    const { source, emitter, killed } = fakeProcess();
    listenToSignals(source, () => now);
    emitter.emit('SIGTERM', 'SIGTERM');
    now = 2000;
    emitter.emit('SIGTERM', 'SIGTERM');
    expect(killed).toEqual([]);
  });

  test('while a command runs, no signal ends us', () => {
    let now = 0;
    const { source, emitter, killed } = fakeProcess();
    listenToSignals(source, () => now).beDeaf();
    emitter.emit('SIGINT', 'SIGINT');
    now = 2000;
    emitter.emit('SIGINT', 'SIGINT');
    expect(killed).toEqual([]);
  });

  test.each([
    { typed: 'SIGINT', is: 'asked all the same' },
    { typed: 'SIGTERM', is: 'not asked' },
    { typed: 'SIGHUP', is: 'not asked' },
  ])('after a command that $typed ended, a question is $is', ({ typed }) => {
    const { source, emitter } = fakeProcess();
    const signals = listenToSignals(source);
    signals.beDeaf();
    emitter.emit(typed, typed);
    const signal = signals.forQuestion();
    expect(signal.aborted).toBe(typed !== 'SIGINT');
    emitter.emit('SIGINT', 'SIGINT');
    expect(signal.aborted).toBe(true);
  });

  test('a question before any command is ended by the signal that was heard', () => {
    const { source, emitter } = fakeProcess();
    const signals = listenToSignals(source);
    emitter.emit('SIGINT', 'SIGINT');
    expect(signals.forQuestion().aborted).toBe(true);
  });

  test('stop takes the listeners away', () => {
    const { source, emitter } = fakeProcess();
    listenToSignals(source).stop();
    expect(emitter.eventNames()).toEqual([]);
  });
});
