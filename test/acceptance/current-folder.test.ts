import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toBytes } from '../support/bytes.js';
import { startProcess } from '../support/run-process.js';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { Scene } from './scene.js';

describe('a current folder whose path is not UTF-8', () => {
  // A shell goes there: what starts a process from here can only name text.
  async function inFolder(scene: Scene, ...args: string[]) {
    const script = 'cd "$1"/$(printf "caf\\351") && shift && exec "$@"';
    const command = [process.execPath, snapBin, '--data-dir', scene.dataDir, ...args];
    return startProcess('sh', ['-c', script, 'sh', scene.area, ...command], {
      cwd: '/',
      env: snapEnvironment(scene.home),
      timeout: 60_000,
    }).done;
  }

  function folderIn(scene: Scene): Buffer {
    const path = toBytes(`${scene.area}/caf\xe9`);
    mkdirSync(path);
    writeFileSync(Buffer.concat([path, Buffer.from('/a')]), '1');
    return path;
  }

  test('is the folder that is saved, known again, and restored', async () => {
    const scene = new Scene();
    const folder = folderIn(scene);
    const file = Buffer.concat([folder, Buffer.from('/a')]);
    const saved = await inFolder(scene, 'save', '--json');
    expect(saved.code, saved.stderr).toBe(0);
    const { data } = JSON.parse(saved.stdout) as { data: { mounts: { path: { base64: string } }[] } };
    expect(data.mounts[0]?.path).toEqual({ base64: folder.toString('base64') });
    writeFileSync(file, '2');
    expect((await inFolder(scene, 'save')).code).toBe(0);
    expect((await inFolder(scene, 'list')).stdout.trim().split('\n')).toHaveLength(2);
    expect((await inFolder(scene, 'restore', '1', '--yes')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('1');
    const ran = await inFolder(scene, 'run', '--', 'sh', '-c', 'echo 3 >a');
    expect(ran.code, ran.stderr).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('3\n');
  });

  test('is not another one, whose name is what text makes of it', async () => {
    const scene = new Scene();
    folderIn(scene);
    const mangled = scene.folder('caf\ufffd', { b: '1' });
    await scene.run(['save'], { instance: null, cwd: mangled });
    const listed = await inFolder(scene, 'list');
    expect(listed.code).toBe(3);
    const renamed = join(scene.area, 'elsewhere');
    renameSync(mangled, renamed);
    expect((await inFolder(scene, 'save')).code).toBe(0);
  });
});
