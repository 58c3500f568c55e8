import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { type EntryPath, type HostPath, bytesOfText } from '../../src/core/entry-path.js';
import type { MountName } from '../../src/core/ids.js';
import { defaultPolicy } from '../../src/core/policy.js';
import { decodeManifest } from '../../src/core/manifest.js';
import type { SaveRequest } from '../../src/core/requests.js';
import { SnapError } from '../../src/errors.js';
import { save } from '../../src/operations/save.js';
import { buildTree } from '../support/build-tree.js';
import { treeFingerprint } from '../support/compare.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import { MemoryContext } from './memory-context.js';

async function memory(): Promise<MemoryContext & { mount: string }> {
  const made = new MemoryContext();
  made.instance = 'demo';
  made.cwd = join(made.area, 'mount');
  await buildTree(made.cwd, [file('a', 'A'), file('d/f', 'F'), symlink('l', 'a'), directory('e')]);
  return Object.assign(made, { mount: made.cwd });
}

const state = (made: MemoryContext): unknown => ({
  refs: [...made.store.refs],
  records: [...made.records.keys()],
  lastSeqs: [...made.lastSeqs],
});

function expectNothingHeld(made: MemoryContext): void {
  expect([[...made.held], made.store.openWriters.size, made.store.openReaders.size]).toEqual([[], 0, 0]);
}

/** The steps of a save that goes well, each with its number among those of its name. */
async function stepsOf(make: () => Promise<MemoryContext>, request: SaveRequest): Promise<[string, number][]> {
  const made = await make();
  made.steps.length = 0;
  await save(made.context, request);
  return made.steps.map((name, at) => [name, made.steps.slice(0, at + 1).filter((other) => other === name).length]);
}

const situations: { what: string; make: () => Promise<MemoryContext & { mount: string }>; request: SaveRequest }[] = [
  { what: 'the first save of an instance', make: memory, request: {} },
  {
    what: 'a later save',
    make: async () => {
      const made = await memory();
      await save(made.context, {});
      writeFileSync(join(made.mount, 'a'), 'AA');
      return made;
    },
    request: { ifChanged: true },
  },
  {
    what: 'a save that prunes',
    make: async () => {
      const made = await memory();
      for (let count = 0; count < 3; count++) await save(made.context, {});
      const record = made.records.get('demo')!;
      made.records.set('demo', { ...record, policy: { ...defaultPolicy, keep_last: 2, keep_emergency: 0 } });
      return made;
    },
    request: {},
  },
  {
    what: 'a save after one was killed',
    make: async () => {
      const made = await memory();
      made.store.leftovers = true;
      return made;
    },
    request: {},
  },
];

describe.each(situations)('$what', ({ make, request }) => {
  test('whichever step fails: no ref and no number is used, the writer is abandoned and no lock stays', async () => {
    const steps = await stepsOf(make, request);
    const last = steps.findIndex(([name]) => name === 'changeRefs');
    expect(last).toBeGreaterThan(10);
    for (const [failing, time] of steps.slice(0, last + 1)) {
      const made = await make();
      const before = state(made);
      const folder = treeFingerprint(made.mount);
      made.steps.length = 0;
      made.onStep = (name, count) => {
        if (name === failing && count === time) throw Object.assign(new Error('broken'), { code: 'EIO' });
      };
      await expect(save(made.context, request), `${failing} ${time}`).rejects.toThrow(
        /broken|cannot be opened \(EIO\)/,
      );
      expect(state(made), `${failing} ${time}`).toEqual(before);
      expectNothingHeld(made);
      expect(treeFingerprint(made.mount)).toBe(folder);
      made.onStep = () => undefined;
      const { snapshot } = await save(made.context, request);
      expect(snapshot.seq, `${failing} ${time}`).toBe(made.store.refs.size === 1 ? 1 : (snapshot.parentSeq ?? 0) + 1);
    }
  });

  test('a signal at any step before the ref ends it the same way', async () => {
    const steps = await stepsOf(make, request);
    const last = steps.findIndex(([name]) => name === 'changeRefs');
    for (const [raising, time] of steps.slice(0, last)) {
      const made = await make();
      const before = state(made);
      made.steps.length = 0;
      made.onStep = (name, count) => {
        if (name === raising && count === time) made.signal.abort('SIGINT');
      };
      await expect(save(made.context, request), `${raising} ${time}`).rejects.toThrow(
        expect.objectContaining({ code: 'INTERRUPTED' }),
      );
      expect(state(made), `${raising} ${time}`).toEqual(before);
      expectNothingHeld(made);
    }
  });

  test('what comes after the ref cannot fail it', async () => {
    const steps = await stepsOf(make, request);
    const ref = steps.findIndex(([name]) => name === 'changeRefs');
    for (const [failing, time] of steps.slice(ref + 1).filter(([name]) => name !== 'writeStats')) {
      const made = await make();
      made.steps.length = 0;
      made.onStep = (name, count) => {
        if (name === failing && count === time)
          throw new SnapError('STORE_DAMAGED', 'broken afterwards', { problem: 'x' });
      };
      const { created, snapshot } = await save(made.context, request);
      expect([created, made.store.refs.get(snapshot.ref)]).toEqual([true, snapshot.commit]);
      expectNothingHeld(made);
    }
    expect(ref).toBeGreaterThan(0);
  });

  test('the order: the instance is locked, then the store; objects, their check, the ref', async () => {
    const steps = (await stepsOf(make, request)).map(([name]) => name);
    const order = [
      'lock instance demo',
      'lock store shared',
      'newWriter',
      'openMount',
      'publish',
      'checkConnected',
      'changeRefs',
      'writeStats',
    ];
    const found = order.map((name) => steps.lastIndexOf(name, steps.indexOf('writeStats')));
    expect(found.every((at) => at >= 0)).toBe(true);
    expect(found).toEqual([...found].sort((a, b) => a - b));
  });

  test('both locks are held until the ref is there', async () => {
    const made = await make();
    const held: string[][] = [];
    made.onStep = (name) => {
      if (['openMount', 'publish', 'checkConnected', 'changeRefs'].includes(name)) held.push([...made.held].sort());
    };
    await save(made.context, request);
    expect(new Set(held.map((locks) => locks.join()))).toEqual(new Set(['instance demo,store shared']));
  });
});

describe('a ref that is there already', () => {
  test('is never moved: the save fails, and its number is not used', async () => {
    const made = await memory();
    await save(made.context, {});
    const taken = made.store.refs.get('refs/jackin/demo/1')!;
    made.onStep = (name) => {
      if (name === 'changeRefs') made.store.refs.set('refs/jackin/demo/2', taken);
    };
    await expect(save(made.context, {})).rejects.toThrow(expect.objectContaining({ code: 'REF_EXISTS' }));
    expect(made.store.refs.get('refs/jackin/demo/2')).toBe(taken);
    expectNothingHeld(made);
  });

  test('whose lock a killed git left: the lock is dropped, and the ref is made', async () => {
    const made = await memory();
    made.onStep = (name, time) => {
      if (name === 'changeRefs' && time === 1) throw new SnapError('BUSY', 'locked', { lock: 'ref', holder: '' });
    };
    const { snapshot } = await save(made.context, {});
    expect(made.steps.filter((name) => /changeRefs|dropRefLocks/.test(name))).toEqual([
      'changeRefs',
      'dropRefLocks',
      'changeRefs',
    ]);
    expect(made.store.refs.get(snapshot.ref)).toBe(snapshot.commit);
  });
});

describe('numbers', () => {
  test('go up by one, and are not used again after the newest was removed', async () => {
    const made = await memory();
    for (const seq of [1, 2, 3]) expect((await save(made.context, {})).snapshot.seq).toBe(seq);
    made.store.refs.delete('refs/jackin/demo/3');
    made.lastSeqs.set('demo', 3 as never);
    const { snapshot } = await save(made.context, {});
    expect([snapshot.seq, snapshot.parentSeq]).toEqual([4, 2]);
  });

  test('are each instance’s own', async () => {
    const made = await memory();
    await save(made.context, {});
    made.instance = 'other';
    expect((await save(made.context, {})).snapshot.ref).toBe('refs/jackin/other/1');
  });
});

describe('a save of what did not change', () => {
  test('makes a snapshot, unless only changes were asked for', async () => {
    const made = await memory();
    const first = await save(made.context, {});
    const same = await save(made.context, { ifChanged: true });
    expect([same.created, same.snapshot.ref]).toEqual([false, first.snapshot.ref]);
    expect((await save(made.context, {})).created).toBe(true);
    expectNothingHeld(made);
  });

  test.each([
    { what: 'content', change: (mount: string) => writeFileSync(join(mount, 'a'), 'B') },
    { what: 'a mode', change: (mount: string) => rmSync(join(mount, 'e'), { recursive: true }) },
    { what: 'an empty folder', change: (mount: string) => rmSync(join(mount, 'e'), { recursive: true }) },
  ])('sees a change of $what', async ({ change }) => {
    const made = await memory();
    await save(made.context, {});
    change(made.mount);
    expect((await save(made.context, { ifChanged: true })).created).toBe(true);
  });
});

test('the same folder, clock and ids make the same objects', async () => {
  const [one, two] = [await memory(), await memory()];
  const trees = [];
  for (const made of [one, two]) {
    const { snapshot } = await save(made.context, {});
    const { content } = [...made.store.objects.values()].find((found) =>
      found.content.toString().startsWith('{\n "format"'),
    )!;
    expect(decodeManifest(content, 'demo/1').created_at).toBe('2026-03-01T12:00:00.000Z');
    const mounts = made.store.objects.get(snapshot.tree)!.entries!.find(({ name }) => name === 'mounts');
    trees.push(mounts?.oid);
  }
  expect(trees[0]).toBe(trees[1]);
  // As git names `mount` with a, d/f and l -> a; what no tree can say stands elsewhere.
  expect(trees[0]).toBe('9460bce15de076d69db84bff77c6399f0bb340fe');
});

describe('a save that is refused makes no instance', () => {
  test.each<{ what: string; request: SaveRequest; code: string }>([
    {
      what: 'a folder that is gone',
      request: { folders: [{ name: null, path: '/no/such/folder' as HostPath }] },
      code: 'MOUNT_GONE',
    },
    {
      what: 'a path in no mount',
      request: { paths: [{ mount: 'other' as MountName, path: 'a' as EntryPath }] },
      code: 'PATH_NOT_FOUND',
    },
    { what: 'the root', request: { folders: [{ name: null, path: '/' as HostPath }] }, code: 'MOUNT_UNSAFE' },
  ])('$what', async ({ request, code }) => {
    const made = await memory();
    await expect(save(made.context, request)).rejects.toThrow(expect.objectContaining({ code }));
    expect([made.records.size, made.store.refs.size]).toEqual([0, 0]);
    expectNothingHeld(made);
  });

  test('a strict one of what cannot be read', async () => {
    const made = await memory();
    made.onStep = (name) => {
      // The file grows whenever something is stored: never twice the same.
      if (name === 'writeBlob') writeFileSync(join(made.mount, 'd/f'), 'F'.repeat(made.steps.length));
    };
    await expect(save(made.context, { strict: true })).rejects.toThrow(
      expect.objectContaining({ code: 'INCOMPLETE_REFUSED', data: { paths: ['d/f'] } }),
    );
    expect([made.records.size, made.store.refs.size]).toEqual([0, 0]);
    made.steps.length = 0;
    const partial = await save(made.context, {});
    expect([partial.complete, partial.observedOnly]).toEqual([
      false,
      [{ mount: 'mount', path: 'd/f', reason: 'unstable' }],
    ]);
  });

  test('one over a limit that fails it', async () => {
    const made = await memory();
    await save(made.context, {});
    const record = made.records.get('demo')!;
    made.records.set('demo', { ...record, policy: { ...defaultPolicy, max_file_size: 1, on_limit: 'fail' } });
    writeFileSync(join(made.mount, 'big'), 'xx');
    await expect(save(made.context, {})).rejects.toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', data: { path: 'big' } }),
    );
    expect(made.store.refs.size).toBe(1);
  });
});

test('the folder is only read', async () => {
  const made = await memory();
  const before = treeFingerprint(made.mount);
  await save(made.context, { folders: [{ name: null, path: bytesOfText(made.mount) as HostPath }] });
  expect(treeFingerprint(made.mount)).toBe(before);
  expect(readdirSync(made.area)).toEqual(['mount']);
});
