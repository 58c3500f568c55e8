import { describe, expect, test } from 'vitest';

import type { InstanceName } from '../../src/core/ids.js';
import { SnapError } from '../../src/errors.js';
import { Interruption } from '../../src/operations/interruption.js';
import { lockForReading, lockForRemoval, lockForSnapshot, sweepIfAlone } from '../../src/operations/locking.js';
import { MemoryContext } from './memory-context.js';

const demo = 'demo' as InstanceName;
const busy = (): never => {
  throw new SnapError('BUSY', 'somebody else', { lock: 'store', holder: '' });
};

describe('locks', () => {
  test.each([
    { what: 'a snapshot', take: lockForSnapshot, order: ['lock instance demo', 'lock store shared'] },
    { what: 'a removal', take: lockForRemoval, order: ['lock instance demo', 'lock store exclusive'] },
    {
      what: 'a look',
      take: (context: MemoryContext['context']) => lockForReading(context),
      order: ['lock store shared'],
    },
  ])('for $what are taken in one order, the instance first, and all released', async ({ take, order }) => {
    const made = new MemoryContext();
    const lock = await take(made.context, demo);
    expect([made.steps, made.held.size]).toEqual([order, order.length]);
    lock.release();
    expect([...made.held]).toEqual([]);
  });

  test.each([lockForSnapshot, lockForRemoval])('that are not had in full are not kept in part', async (take) => {
    const made = new MemoryContext();
    made.onStep = (name) => (name.startsWith('lock store') ? busy() : undefined);
    await expect(take(made.context, demo)).rejects.toThrow(expect.objectContaining({ code: 'BUSY' }));
    expect([...made.held]).toEqual([]);
  });
});

describe('the locks of a snapshot', () => {
  test.each(['lock instance demo', 'lock store shared'])(
    'wait in order where %s is not free at once',
    async (taken) => {
      const made = new MemoryContext();
      made.onStep = (name, time) => {
        if (name === taken && time === 1) busy();
        // Nothing is held while it is waited for the first.
        if (name === 'lock instance demo' && time === 2) expect([...made.held]).toEqual([]);
      };
      const lock = await lockForSnapshot(made.context, demo);
      const both = ['lock instance demo', 'lock store shared'];
      expect([made.steps, made.held.size]).toEqual([[...both, ...both], 2]);
      lock.release();
      expect([...made.held]).toEqual([]);
    },
  );

  test('fail with what is wrong with one of them, and the other is not kept', async () => {
    const made = new MemoryContext();
    made.onStep = (name) => {
      if (name === 'lock store shared') throw new SnapError('GIT_MISSING', 'no flock', { program: 'flock' });
    };
    await expect(lockForSnapshot(made.context, demo)).rejects.toThrow(expect.objectContaining({ code: 'GIT_MISSING' }));
    expect([made.held.size, made.steps.length]).toEqual([0, 2]);
  });
});

describe('what killed processes left', () => {
  test('is not looked for under a lock where there is nothing', async () => {
    const made = new MemoryContext();
    await sweepIfAlone(made.context);
    expect(made.steps).toEqual([]);
  });

  test('is cleared away by who is alone', async () => {
    const made = new MemoryContext();
    made.store.leftovers = true;
    await sweepIfAlone(made.context);
    expect([made.steps, made.store.leftovers, made.held.size]).toEqual([['lock store exclusive', 'sweep'], false, 0]);
  });

  test('is left to the next one beside others', async () => {
    const made = new MemoryContext();
    made.store.leftovers = true;
    made.onStep = busy;
    await sweepIfAlone(made.context);
    expect(made.store.leftovers).toBe(true);
  });

  test('that cannot be cleared away is said, and no lock stays', async () => {
    const made = new MemoryContext();
    made.store.leftovers = true;
    made.onStep = (name) => {
      if (name === 'sweep') throw new SnapError('STORE_DAMAGED', 'broken', { problem: 'x' });
    };
    await expect(sweepIfAlone(made.context)).rejects.toThrow('broken');
    expect([...made.held]).toEqual([]);
  });
});

describe('an interruption', () => {
  test.each([
    { reason: 'SIGINT', signal: 'SIGINT' },
    { reason: 'SIGTERM', signal: 'SIGTERM' },
    { reason: 'SIGHUP', signal: 'SIGHUP' },
    { reason: new Error('whatever'), signal: 'SIGINT' },
    { reason: undefined, signal: 'SIGINT' },
  ])('by $reason is one by $signal', async ({ reason, signal }) => {
    const abort = new AbortController();
    const interruption = new Interruption(abort.signal);
    await interruption.pause();
    expect(interruption.raised).toBe(false);
    abort.abort(reason);
    expect(interruption.raised).toBe(true);
    await expect(interruption.pause()).rejects.toThrow(
      expect.objectContaining({ code: 'INTERRUPTED', data: { signal } }),
    );
  });

  test('is heard during work that never waits', async () => {
    const abort = new AbortController();
    const interruption = new Interruption(abort.signal);
    setImmediate(() => abort.abort('SIGTERM'));
    const work = async (): Promise<void> => {
      for (;;) await interruption.pause();
    };
    await expect(work()).rejects.toThrow(expect.objectContaining({ code: 'INTERRUPTED' }));
  });

  test('never comes where nobody may interrupt', async () => {
    const interruption = new Interruption(undefined);
    for (let count = 0; count < 1000; count++) await interruption.pause();
    expect(interruption.raised).toBe(false);
  });
});
