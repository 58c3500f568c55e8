import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { writeFiles } from '../support/user-git.js';
import { Scene, expectSame, machineHome, observedReason, remember, rememberUntouched, said } from './scene.js';

describe('a folder that nobody means to protect as a whole is refused', () => {
  test('however it is spelled: home, root, parents and children of the data directory, secrets', async () => {
    const scene = new Scene();
    writeFiles(scene.home, { f: 'f\n', '.ssh/id': 'k', '.aws/x/y': 'k', '.config/gh/hosts.yml': 'k', '.gnupg/k': 'k' });
    scene.folder('data/inner');
    symlinkSync(scene.home, scene.at('link to home'));
    symlinkSync(join(scene.home, '.ssh'), scene.at('keys'));
    scene.write({ 'project/f': 'f\n' });
    const refused = [
      scene.home,
      `${scene.home}/`,
      join(scene.home, '.ssh'),
      join(scene.home, '.aws/x'),
      join(scene.home, '.config/gh'),
      join(scene.home, '.gnupg'),
      scene.at('link to home'),
      scene.at('keys'),
      relative(scene.mount, scene.home),
      scene.area,
      '/',
      machineHome,
      scene.dataDir,
      join(scene.dataDir, 'inner'),
    ];
    const still = rememberUntouched(scene.home);
    // The folder of the data directory has to be private for anything to be looked at.
    const chmod = await scene.start(['run', '--', 'true'], { cwd: scene.home, instance: null }).done;
    expect([4, 9]).toContain(chmod.code);
    writeFileSync(join(scene.outside, 'x'), '');
    for (const dir of refused) {
      const run = await scene.run(['save', dir], { instance: 'refused', code: [4, 9], timeout: 20_000 });
      if (run.code === 4) expect(said(run), dir).toContain('allow-unsafe-mount');
    }
    expectSame(still, 'the home');
  });

  test('also without its name, by run, beside other folders, and nothing is left behind', async () => {
    const scene = new Scene();
    writeFiles(scene.home, { f: 'f\n', '.ssh/id': 'k' });
    await scene.run(['save'], { cwd: scene.home, instance: null, code: 4 });
    await scene.run(['save'], { cwd: scene.home, code: 4 });
    const ran = await scene.run(['run', '--', 'touch', join(scene.outside, 'ran')], { cwd: scene.home, code: 4 });
    expect(said(ran)).toContain('home directory');
    await scene.run(['save', scene.mount, join(scene.home, '.ssh')], { code: 4 });
    await scene.run(['save', '--mount', `home=${scene.home}`], { code: 4 });
    await scene.run(['save', '.'], { cwd: join(scene.home, '.ssh'), code: 4 });
    expect(remember(scene.outside).differences()).toEqual([]);
    const listed = await scene.run(['--json', 'list'], { code: [0, 3] });
    expect(listed.stdout).not.toContain('"seq"');
    await scene.save();
    expect(await scene.numbers()).toEqual([1]);
  });

  test('but a folder in a home, or with a name that only looks like one, is fine', async () => {
    const scene = new Scene();
    writeFiles(scene.home, { 'project/f': 'f\n', '.sshx/f': 'f\n', '.config/nvim/init': 'x' });
    for (const name of ['project', '.sshx', '.config', '.config/nvim'])
      await scene.save([], { instance: `i-${name.replace(/\W/g, '')}`, dirs: [join(scene.home, name)] });
    expect(await scene.content(1, 'f', { instance: 'i-project' })).toBe('f\n');
  });
});

describe('secrets stay out', () => {
  const secret = 'hunter2-token';
  const names = [
    '.ssh/id',
    '.ssh/deep/er/key',
    '.aws/credentials',
    '.gnupg/private/k',
    '.kube/config',
    '.docker/config.json',
    '.config/gh/hosts.yml',
    '.config/gcloud/x.db',
    '.env',
    '.env.production',
    'server.pem',
    'tls.key',
    'id_rsa',
    'id_ed25519_sk',
    'credentials.json',
    '.netrc',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
  ];
  const open = ['.env.example', '.env.sample', '.env.template', '.config/other', 'env', 'keys.txt', '.sshx/id'];

  test('of a home that is saved all the same, and of folders within it', async () => {
    const scene = new Scene();
    for (const folder of ['', 'project/', 'project/deep/er/'])
      scene.write(Object.fromEntries([...names, ...open].map((name) => [folder + name, `${secret}\n`])));
    for (const folder of ['', 'project/']) for (const name of open) scene.write({ [folder + name]: 'open\n' });
    for (const name of open) scene.write({ [`project/deep/er/${name}`]: 'open\n' });
    scene.write({ f: 'f\n', '.cache/x': 'x\n' });
    const before = remember(scene.mount);
    const env = { HOME: scene.mount };
    await scene.save([], { env, code: 4 });
    const saved = await scene.save(['--allow-unsafe-mount'], { env });
    for (const folder of ['', 'project/', 'project/deep/er/'])
      for (const name of names) {
        const top = name.startsWith('.config/')
          ? name.split('/').slice(0, 2).join('/')
          : name.replace(/^(\.\w+)\/.*/, '$1');
        expect(observedReason(saved, folder + top), folder + name).toBe('secret');
      }
    expect(await scene.content(1, 'f')).toBe('f\n');
    for (const name of open) expect(await scene.content(1, name), name).toBe('open\n');
    await scene.content(1, '.ssh/id', { code: 3 });

    scene.write({ f: 'changed\n', '.env': `${secret}-changed\n`, 'project/.env.local': `${secret}-new\n` });
    const restored = await scene.restore();
    const spoken = [saved, restored, await scene.run(['diff', '1']), await scene.run(['log', '-p'])].map(said).join();
    expect(spoken).not.toContain(secret);
    const everything = storeGit(scene.dataDir, ['cat-file', '--batch-all-objects', '--batch']).stdout;
    expect(everything).not.toContain(secret);
    expect(scene.read('.env')).toBe(`${secret}-changed\n`);
    expect(scene.read('project/.env.local')).toBe(`${secret}-new\n`);
    scene.remove('project/.env.local');
    scene.write({ '.env': `${secret}\n` });
    expectSame(before);
  });

  test('of emergency snapshots and of folders that make way, which then stay', async () => {
    const scene = new Scene();
    scene.write({ place: 'file\n', gone: 'file\n' });
    await scene.save();
    scene.remove('place', 'gone');
    scene.write({ 'place/.env': `${secret}\n`, 'place/other': 'o\n', 'gone/.ssh/id': `${secret}\n` });
    const restored = await scene.restore(1, [], { code: 6 });
    expect([scene.read('place/.env'), scene.read('gone/.ssh/id')]).toEqual([`${secret}\n`, `${secret}\n`]);
    expect(said(restored)).toContain('place');
    const everything = storeGit(scene.dataDir, ['cat-file', '--batch-all-objects', '--batch']).stdout;
    expect(everything).not.toContain(secret);
  });

  test('by the name that they have when a save looks: a link to one holds none', async () => {
    const scene = new Scene();
    writeFiles(scene.outside, { '.env': `${secret}\n` });
    symlinkSync(join(scene.outside, '.env'), scene.at('settings'));
    symlinkSync(scene.outside, scene.at('folder'));
    symlinkSync('settings', scene.at('.env'));
    const saved = await scene.save();
    expect(observedReason(saved, '.env')).toBe('secret');
    const everything = storeGit(scene.dataDir, ['cat-file', '--batch-all-objects', '--batch']).stdout;
    expect(everything).not.toContain(secret);
  });
});

describe('a data directory within the mount', () => {
  test('is left out, also when the mount is allowed, and a restore leaves it alone', async () => {
    const scene = new Scene();
    const dataDir = scene.at('.jackin/snapshots');
    mkdirSync(scene.at('.jackin'));
    scene.write({ f: 'f\n', '.jackin/config': 'c\n' });
    const run = (...args: string[]) => scene.run(['--data-dir', dataDir, ...args], { code: [0, 4] });
    expect((await run('save', scene.mount)).code).toBe(4);
    expect((await run('save', '--allow-unsafe-mount', scene.mount)).code).toBe(0);
    scene.write({ f: 'g\n', '.jackin/config': 'd\n', new: 'n\n' });
    expect((await run('save')).code).toBe(0);
    const tree = await run('tree', '1');
    expect(tree.stdout).not.toContain('store.git');
    expect((await run('restore', '1', '--yes')).code).toBe(0);
    expect([scene.read('f'), scene.read('.jackin/config'), scene.has('new')]).toEqual(['f\n', 'c\n', false]);
    expect((await run('verify', '--full')).code).toBe(0);
    expect((await run('undo', '--yes')).code).toBe(0);
    expect([scene.read('f'), scene.read('new')]).toEqual(['g\n', 'n\n']);
  });
});
