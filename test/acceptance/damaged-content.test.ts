import { chmodSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explode, loosePath } from '../git/fixture.js';
import { storeGit } from '../support/store-git.js';
import { Scene, said } from './scene.js';

const content = Array.from({ length: 2000 }, (_, at) => `line ${at * 7919}\n`).join('');

/** One snapshot of a large file and a small one; in the only pack the large one's bytes are damaged. */
async function damaged(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ large: content, small: 'small\n' });
  await scene.save();
  const packs = join(scene.store, 'objects/pack');
  const name = readdirSync(packs).find((each) => each.endsWith('.pack'))!;
  const oid = storeGit(scene.dataDir, ['rev-parse', 'refs/jackin/t/1:mounts/m/large']).stdout.trim();
  const listed = storeGit(scene.dataDir, ['verify-pack', '-v', join(packs, name)]).stdout;
  const [, size = '', offset = ''] = new RegExp(`^${oid} blob +\\d+ (\\d+) (\\d+)$`, 'm').exec(listed)!;
  const bytes = readFileSync(join(packs, name));
  bytes[Number(offset) + Math.floor(Number(size) / 2)]! ^= 0xff;
  chmodSync(join(packs, name), 0o600);
  writeFileSync(join(packs, name), bytes);
  return scene;
}

function findings(data: { findings: { what: string }[] }): string {
  return data.findings.map(({ what }) => what).join('\n');
}

describe('content that is damaged in the store', () => {
  test('is noted by a check, told by the doctor, and stored again from the folder', async () => {
    const scene = await damaged();
    await scene.run(['verify', '--full'], { code: 7 });
    expect(findings((await scene.json(['doctor'], { code: 7 })).data)).toContain('damaged objects (1)');
    const fixed = findings((await scene.json(['doctor', '--fix'])).data);
    expect(fixed).toContain('Of 1 damaged or missing objects the folders had 1');
    expect(fixed).not.toContain('A check of the content found');
    scene.write({ large: 'changed\n' });
    await scene.restore(1);
    expect(scene.read('large')).toBe(content);
    expect(JSON.stringify((await scene.save()).document)).not.toContain('damaged objects');
  });

  test('stays damaged, and is told by saves, where the folder has something else by now', async () => {
    const scene = await damaged();
    await scene.run(['verify', '--percent', '100'], { code: 7 });
    scene.write({ large: 'changed\n' });
    expect(JSON.stringify((await scene.save()).document)).toContain('damaged objects (1)');
    const found = findings((await scene.json(['doctor', '--fix'], { code: 7 })).data);
    expect(found).not.toContain('are stored again');
    expect(found).toContain(
      'A check of the content found damaged objects (1); what could be read of the folders does not have them.',
    );
    await scene.restore(1, [], { code: 7 });
    expect(scene.read('large')).toBe('changed\n');
  });

  test('is written again by a save that comes by it', async () => {
    const scene = await damaged();
    await scene.run(['verify', '--full'], { code: 7 });
    await scene.save(['--full']);
    scene.write({ large: 'changed\n' });
    await scene.restore(1);
    expect(scene.read('large')).toBe(content);
  });

  test('that is missing altogether comes back, too', async () => {
    const scene = new Scene();
    scene.write({ large: content, small: 'small\n' });
    await scene.save();
    const oid = storeGit(scene.dataDir, ['rev-parse', 'refs/jackin/t/1:mounts/m/large']).stdout.trim();
    explode(scene.dataDir, scene.store);
    rmSync(loosePath(scene.store, oid));
    const fixed = findings((await scene.json(['doctor', '--fix'])).data);
    expect(fixed).toContain('the folders had 1');
    await scene.run(['verify', '--full']);
  });

  test('is found in the background', { timeout: 120_000 }, async () => {
    const scene = await damaged();
    await scene.run(['pin', '1']);
    // What the folder still had, the next save would write anew.
    scene.write({ large: 'changed\n' });
    const saveOnce = async (at: number): Promise<void> => {
      scene.write({ other: `other ${at}\n` });
      await scene.save();
    };
    let saves = 0;
    while (saves < 50) await saveOnce((saves += 1));
    // Started by a save, it goes on in a process of its own. On a busy machine it may read only a part each time.
    await expect
      .poll(
        async () => {
          await saveOnce((saves += 1));
          return findings((await scene.json(['doctor'], { code: [0, 7] })).data);
        },
        { timeout: 60_000 },
      )
      .toContain('damaged objects (1)');
    expect(said(await scene.run(['save']))).toContain('damaged objects');
  });
});
