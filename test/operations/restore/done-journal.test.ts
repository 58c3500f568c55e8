import { describe, expect, test } from 'vitest';
import type { InstanceName, Seq, SnapshotId } from '../../../src/core/ids.js';
import type { JournalRecord } from '../../../src/core/journal-record.js';
import type { Journal } from '../../../src/core/ports.js';
import { SnapError } from '../../../src/errors.js';
import { asPending } from '../../../src/operations/restore/as-pending.js';
import { type Finished, finishRestore } from '../../../src/operations/restore/execute.js';
import { MemoryContext } from '../memory-context.js';

const instance = 'demo' as InstanceName;
const pointer = { instance, seq: 1 as Seq, id: '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId, ref: 'refs/jackin/demo/1' };

/** A restore of nothing, with a journal of which something fails. */
async function restoreWith(failing: {
  readonly append?: (records: readonly JournalRecord[], all: JournalRecord[]) => void;
  readonly remove?: () => void;
}): Promise<{ readonly finished: Promise<Finished>; readonly records: JournalRecord[] }> {
  const memory = new MemoryContext();
  const records: JournalRecord[] = [];
  const journal: Journal = {
    append: (more) => {
      if (failing.append === undefined) records.push(...more);
      else failing.append(more, records);
    },
    close: () => undefined,
    remove: failing.remove ?? ((): void => undefined),
  };
  const journals = {
    ...memory.context.journals,
    create: () => journal,
    read: () => (records.length === 0 ? undefined : records),
  };
  const reader = memory.context.store.reader();
  const job = { instance, snapshot: pointer, emergency: pointer, planned: [], request: '[]', reader };
  const finished = finishRestore({ ...memory.context, journals }, job);
  await finished.catch(() => undefined);
  return { finished, records };
}

function fail(code: string): never {
  throw Object.assign(new Error(code), { code });
}

const isDone = ([first]: readonly JournalRecord[]): boolean => first?.kind === 'done';

describe.each(['EIO', 'EROFS', 'EACCES', 'EMFILE', 'ENOENT'])('a restore that is done, where with %s', (code) => {
  test('its journal cannot be removed, is told all the same', async () => {
    const { finished, records } = await restoreWith({ remove: () => fail(code) });
    await expect(finished).resolves.toMatchObject({ failed: [], verified: true });
    expect(records.at(-1)).toEqual({ kind: 'done' });
  });

  test('its journal does not say so, is pending', async () => {
    const { finished } = await restoreWith({
      append: (more, all) => {
        if (isDone(more)) fail(code);
        all.push(...more);
      },
    });
    await expect(finished).rejects.toMatchObject({ code: 'SYSTEM_FAILED', data: { problem: code, pending: instance } });
  });
});

test.each([
  { error: new SnapError('GIT_MISSING', 'No git.', { program: 'git' }), code: 'GIT_MISSING' },
  { error: new SnapError('STORE_DAMAGED', 'Damaged.', { problem: 'x' }), code: 'STORE_DAMAGED' },
  { error: Object.assign(new Error('gone'), { code: 'ENOENT' }), code: 'SYSTEM_FAILED' },
  { error: Object.assign(new Error('full'), { code: 'ENOSPC' }), code: 'NO_SPACE' },
])('whatever ends a restore early ($code), it is said that it is pending', ({ error, code }) => {
  expect(asPending(error, instance)).toMatchObject({ code, message: expect.stringMatching(/restore .*is pending/) });
});
