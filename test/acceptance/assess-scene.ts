import { join } from 'node:path';
import { userGit } from '../support/user-git.js';
import { type JsonRun, Scene, expectSame, rememberUntouched } from './scene.js';

/*
 * What the tests of `assess` share.
 */

/** A clone with an upstream, saved once. */
export async function clonedScene(): Promise<Scene> {
  const scene = new Scene();
  scene.repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'src/c.txt': 'c\n' });
  const remote = join(scene.outside, 'remote.git');
  userGit(scene.outside, ['init', '--quiet', '--bare', '--initial-branch=main', remote]);
  userGit(scene.mount, ['remote', 'add', 'origin', remote]);
  userGit(scene.mount, ['push', '--quiet', '-u', 'origin', 'main']);
  await scene.save();
  return scene;
}

export interface Assessed {
  readonly data: JsonRun['data'];
  readonly mount: JsonRun['data'];
  readonly verdict: string;
  readonly why: string[];
  readonly files: string[];
}

/** What `assess` says, which changes nothing. */
export async function assessed(scene: Scene, args: readonly string[] = []): Promise<Assessed> {
  const untouched = rememberUntouched(scene.mount);
  const { data } = await scene.json(['assess', '--files', ...args]);
  expectSame(untouched);
  const whys = (risks: readonly { branch: string | null; why: string }[]) =>
    risks.map(({ branch, why }) => (branch === null ? why : `${branch}: ${why}`));
  const [mount] = data.mounts;
  return {
    data,
    mount,
    verdict: data.verdict as string,
    why: [...whys(mount.risks), ...mount.repositories.flatMap((one: { risks: never }) => whys(one.risks))],
    files: mount.files.map((file: { status: string; path: string }) => `${file.status} ${file.path}`) as string[],
  };
}
