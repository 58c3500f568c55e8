import { closeSync, fchownSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { maySetOwner } from '../../src/core/caller.js';
import { readCaller } from '../../src/instance/caller.js';
import { asNobody, canBecomeNobody, nobody } from '../operations/apply-scene.js';
import { tempDir } from '../support/temp.js';

const status = [
  'Name:\tnode',
  'Uid:\t1000\t1001\t1002\t1003',
  'Gid:\t100\t101\t102\t103',
  'Groups:\t4 24 ',
  'CapEff:\t00000000a80425fa',
  '',
];

function processOf(files: Readonly<Record<string, string>>): string {
  const folder = tempDir('caller');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('who the process is', () => {
  test('is read with the ids by which files are reached, groups and capabilities', () => {
    const caller = readCaller(processOf({ status: status.join('\n'), uid_map: '0 0 4294967295\n' }));
    expect(caller).toMatchObject({ uid: 1003, gid: 103, groups: new Set([103, 4, 24]), mayGiveAway: false });
    const able = status.join('\n').replace('25fa', '25fb');
    expect(readCaller(processOf({ status: able }))?.mayGiveAway).toBe(true);
  });

  test('has the ids of its user namespace', () => {
    const folder = processOf({
      status: status.join('\n'),
      uid_map: '         0       1000          1\n      1000     100000      65536\n',
      gid_map: '',
    });
    const caller = readCaller(folder);
    expect([0, 1, 999, 1000, 66_535, 66_536].map((uid) => caller?.hasUid(uid))).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(caller?.hasGid(0)).toBe(false);
  });

  test.each([{ status: '' }, { status: 'Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n' }, {}])(
    'is not known where the system does not tell: %j',
    (files) => {
      expect(readCaller(processOf(files))).toBeNull();
    },
  );

  test.runIf(canBecomeNobody)('is what the kernel thinks of it', async () => {
    const file = openSync(join(tempDir('caller'), 'file'), 'w');
    onTestFinished(() => {
      closeSync(file);
    });
    const agrees = (from: number, to: { uid: number; gid: number }): [boolean, boolean] => {
      const caller = readCaller();
      const may = caller !== null && maySetOwner(caller, { uid: from, gid: from }, to);
      try {
        fchownSync(file, to.uid, to.gid);
        return [may, true];
      } catch {
        return [may, false];
      }
    };
    expect(agrees(0, nobody)).toEqual([true, true]);
    const asked = await asNobody(() => {
      const own = nobody.uid;
      return Promise.resolve([agrees(own, { uid: own, gid: own }), agrees(own, { uid: 0, gid: own })]);
    });
    expect(asked).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
