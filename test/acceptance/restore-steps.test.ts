import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JackinSnap } from '../../src/index.js';
import { createSnap } from '../../src/index.js';
import { fileCalls } from '../support/file-calls.js';
import { refsOf } from '../support/store-git.js';
import { Scene, expectSame, remember } from './scene.js';

// The steps of a restore in their order: each is of use only if all before it were made, and reached the disk.

const yes = (): Promise<boolean> => Promise.resolve(true);

/** Something of each kind to do: make, overwrite, delete. */
async function prepared(): Promise<{ scene: Scene; snap: JackinSnap }> {
  const scene = new Scene();
  scene.write({ 'd/missing': 'missing\n', 'd/edited': 'then\n', keep: 'keep\n' });
  await scene.save();
  scene.remove('d/missing');
  scene.write({ 'd/edited': 'now!\n', 'd/new': 'new\n' });
  const env = { HOME: scene.home, PATH: process.env['PATH'] };
  return { scene, snap: createSnap({ dataDir: scene.dataDir, instance: 't', cwd: scene.mount, env }) };
}

function journalOf(scene: Scene): string[] {
  const folder = join(scene.dataDir, 'journals');
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  return lines.map((line) => (JSON.parse(line.slice(17)) as { kind: string }).kind);
}

const changesMount = /^(?!open|fsync)\w+ (?:.* )?m(?:\/|$)/;

describe('before anything in a mount changes', () => {
  test('the state before is a snapshot, and the whole plan is in a journal on the disk', async () => {
    const { scene, snap } = await prepared();
    const now = remember(scene.mount);
    const made: string[] = [];
    let seen: { refs: string[]; journal: string[]; synced: boolean } | undefined;
    await fileCalls(
      scene.area,
      () => snap.restore({ snapshot: '1', confirm: yes }),
      (call) => {
        if (seen === undefined && changesMount.test(call))
          seen = {
            refs: [...refsOf(scene.store).keys()].filter((ref) => ref.startsWith('refs/jackin/')),
            journal: journalOf(scene),
            synced: made.includes('fsync data/journals/t.journal'),
          };
        made.push(call);
      },
    );
    expect(seen).toEqual({
      refs: ['refs/jackin/t/1', 'refs/jackin/t/2'],
      journal: ['begin', 'change', 'change', 'change', 'planned'],
      synced: true,
    });
    expect(refsOf(scene.store).size).toBeGreaterThan(2);
    await snap.undo({ confirm: yes });
    expectSame(now);
  });

  test('it was agreed to', async () => {
    const { scene, snap } = await prepared();
    const now = remember(scene.mount);
    const declined = snap.restore({ snapshot: '1', confirm: () => Promise.resolve(false) });
    await expect(declined).rejects.toMatchObject({ code: 'DECLINED' });
    expectSame(now);
    expect(await scene.numbers()).toEqual([1]);
  });

  test('who became active while the question waited is asked again', async () => {
    const { scene, snap } = await prepared();
    await scene.save([], { instance: 'other', dirs: [scene.mount] });
    const now = remember(scene.mount);
    const confirm = async (): Promise<boolean> => {
      await scene.run(['instance', 'activate', '--pid', String(process.pid)], { instance: 'other' });
      return true;
    };
    await expect(snap.restore({ snapshot: '1', confirm })).rejects.toMatchObject({ code: 'INSTANCE_ACTIVE' });
    expectSame(now);
  });
});

describe('while a mount changes', () => {
  test('a file is synced before it has its name, then the name is, and only then the journal ends', async () => {
    const { scene, snap } = await prepared();
    const calls = await fileCalls(scene.area, () => snap.restore({ snapshot: '1', confirm: yes }));
    const at = (step: RegExp): number => calls.findIndex((call) => step.test(call));
    const last = (step: RegExp): number => calls.findLastIndex((call) => step.test(call));
    const steps = [
      last(/^write m\/d\/\.jackin-/),
      last(/^fsync m\/d\/\.jackin-/),
      last(/^(link|rename) m\/d\/\.jackin-\S+ m\/d\/missing$/),
      at(/^fsync m\/d$/),
      last(/^write data\/journals\/t\.journal$/),
      at(/^unlink data\/journals\/t\.journal$/),
    ];
    expect(steps.every((step) => step >= 0)).toBe(true);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(calls.filter((call) => call.startsWith('fsync m/d/.jackin-'))).toHaveLength(2);
  });

  test('a file that somebody makes at the last moment is not replaced', async () => {
    const { scene, snap } = await prepared();
    const mine = scene.at('d/missing');
    let isMade = false;
    const meddle = (call: string): void => {
      if (isMade || !/^(link|rename) m\/d\/\.jackin-\S+ m\/d\/missing$/.test(call)) return;
      isMade = true;
      writeFileSync(mine, 'mine\n');
    };
    await fileCalls(
      scene.area,
      async () => {
        const { failed } = await snap.restore({ snapshot: '1', confirm: yes });
        expect(failed.map(({ path }) => path)).toEqual(['d/missing']);
      },
      meddle,
    );
    expect([isMade, scene.read('d/missing')]).toEqual([true, 'mine\n']);
  });
});

test('after a mount changed, what does not hold what was written is named', async () => {
  const { scene, snap } = await prepared();
  let isEdited = false;
  const meddle = (call: string): void => {
    if (isEdited || call !== 'fsync m/d') return;
    isEdited = true;
    writeFileSync(scene.at('d/edited'), 'what\n');
  };
  await fileCalls(
    scene.area,
    async () => {
      const { failed, verified } = await snap.restore({ snapshot: '1', confirm: yes });
      expect(failed).toMatchObject([{ path: 'd/edited', reason: 'verification_failed' }]);
      expect(verified).toBe(false);
    },
    meddle,
  );
  expect(isEdited).toBe(true);
});
