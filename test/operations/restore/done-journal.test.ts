import { expect, test } from 'vitest';
import type { InstanceName, Seq, SnapshotId } from '../../../src/core/ids.js';
import type { JournalRecord } from '../../../src/core/journal-record.js';
import type { Journal } from '../../../src/core/ports.js';
import { finishRestore } from '../../../src/operations/restore/execute.js';
import { MemoryContext } from '../memory-context.js';

const instance = 'demo' as InstanceName;
const pointer = { instance, seq: 1 as Seq, id: '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId, ref: 'refs/jackin/demo/1' };

test.each(['EIO', 'EROFS', 'EACCES'])(
  'a journal that is done and cannot be removed (%s) hides no report',
  async (code) => {
    const memory = new MemoryContext();
    const records: JournalRecord[] = [];
    const journal: Journal = {
      append: (more) => {
        records.push(...more);
      },
      close: () => undefined,
      remove: () => {
        throw Object.assign(new Error(code), { code });
      },
    };
    const context = { ...memory.context, journals: { ...memory.context.journals, create: () => journal } };
    const reader = memory.context.store.reader();
    const job = { instance, snapshot: pointer, emergency: pointer, planned: [], request: '[]', reader };
    expect(await finishRestore(context, job)).toMatchObject({ failed: [], verified: true });
    expect(records.at(-1)).toEqual({ kind: 'done' });
  },
);
