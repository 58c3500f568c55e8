import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { userGit } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { reasons, stored } from './looking.js';
import { Scene, expectSame, observedReason, planned, remember, rememberUntouched, said } from './scene.js';

describe('secrets', () => {
  const word = 'CANARY-words-1';
  const secrets = [
    '.env',
    '.env.local',
    'sub/x.pem',
    'sub/y.key',
    'id_rsa',
    'id_ed25519.pub',
    'credentials.json',
    '.netrc',
  ]
    .concat([
      '.pypirc',
      '.git-credentials',
      'sub/.ssh/id',
      '.aws/credentials',
      '.gnupg/k',
      '.kube/config',
      '.docker/config.json',
    ])
    .concat(['.config/gh/hosts.yml', '.config/gcloud/x']);
  const samples = ['.env.example', '.env.sample', '.env.template', 'envelope', 'monkey', 'ssh/id', 'keys', 'a.pem.txt'];

  test('are named, and their content is in no store, no snapshot, no log and no message', async () => {
    const scene = new Scene();
    scene.write(Object.fromEntries(secrets.map((path) => [path, `${word} ${path}`])));
    scene.write(Object.fromEntries(samples.map((path) => [path, 'sample'])));
    scene.write({ a: 'then' });
    const saved = await scene.save();
    expect([...new Set(Object.values(reasons(saved)))]).toEqual(['secret']);
    expect(await stored(scene, 1)).toEqual([...samples, 'a'].sort());
    expect(said(await scene.run(['save']))).toMatch(/secret|\.env/);
    scene.remove('sub/x.pem');
    scene.write({ a: 'now', '.env': `${word} changed`, 'later.key': word, 'new/.env': word, '.ssh/new': word });
    await scene.restore();
    expect([scene.read('a'), scene.read('.env'), scene.read('later.key'), scene.read('new/.env')]).toEqual([
      'then',
      `${word} changed`,
      word,
      word,
    ]);
    expect(scene.has('sub/x.pem')).toBe(false);
    for (const args of [
      ['diff', '1'],
      ['diff', '1', '2'],
      ['log', '-p'],
      ['show', '1'],
      ['doctor'],
      ['restore', '1', '--dry-run', '--verbose'],
    ])
      expect(said(await scene.run(args)), args.join(' ')).not.toContain(word);
    await scene.run(['cat', '1', '.env'], { code: 3 });
    expectNowhere(scene, word);
  });

  test('that were asked for are paths like others: overwritten, restored, deleted, undone', async () => {
    const scene = new Scene();
    scene.write({ '.env': 'K=1', '.ssh/id': 'K=1', 'x.pem': 'K=1', a: 'then' });
    const wasThen = remember(scene.mount);
    await scene.save(['--include-secrets']);
    expect(await scene.content(1, '.env')).toBe('K=1');
    scene.write({ '.env': 'K=2', a: 'now' });
    scene.remove('.ssh', 'x.pem');
    const wasNow = remember(scene.mount);
    const restored = await scene.restore();
    expect(planned(restored)).toEqual(expect.arrayContaining(['overwrite .env', 'create .ssh/id', 'create x.pem']));
    expectSame(wasThen);
    expect(await scene.content((await scene.emergency()).seq, '.env')).toBe('K=2');
    await scene.undo();
    expectSame(wasNow);
    await scene.undo();
    expectSame(wasThen);
    expect((await scene.save()).data.observed_only.length).toBeGreaterThan(0);
  });

  test('that came later stay where they are, also beside stored ones, and are in no emergency snapshot', async () => {
    const scene = new Scene();
    scene.write({ '.env': 'K=1', a: 'then' });
    await scene.save(['--include-secrets']);
    scene.write({ '.env.local': word, 'sub/.env': word, '.ssh/id': word, '.env': 'K=2' });
    await scene.restore();
    expect([scene.read('.env'), scene.read('.env.local'), scene.read('sub/.env'), scene.read('.ssh/id')]).toEqual([
      'K=1',
      word,
      word,
      word,
    ]);
    expectNowhere(scene, word);
  });

  test('are secrets by their name, not by what they are', async () => {
    const scene = new Scene();
    mkdirSync(scene.at('.env'));
    mkdirSync(scene.at('x.pem'));
    writeFileSync(scene.at('x.pem/f'), 'f');
    symlinkSync('elsewhere', scene.at('.netrc'));
    symlinkSync('.ssh-real', scene.at('.ssh'));
    scene.write({ a: 'then' });
    const saved = await scene.save();
    expect(observedReason(saved, '.netrc')).toBe('secret');
    const then = rememberUntouched(scene.mount);
    await scene.restore();
    expectSame(then);
  });

  function expectNowhere(scene: Scene, text: string): void {
    const objects = storeGit(scene.dataDir, ['cat-file', '--batch-all-objects', '--batch', '--buffer']);
    expect(objects.stdoutBytes.includes(text)).toBe(false);
    const grep = userGit(scene.area, ['grep', '--no-index', '--text', '-l', '-e', text, '--', 'data'], {
      mayFail: true,
    });
    expect([grep.code, grep.stdout]).toEqual([1, '']);
    expect(walkTree(scene.dataDir, { withRoot: true })[0]?.mode).toBe(0o700);
  }
});
