import { chmodSync, symlinkSync } from 'node:fs';
import { type JsonRun, Scene } from './scene.js';

/*
 * What the tests of `run --worktree` share.
 */

export const none = { instance: null } as const;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export async function worktrees(scene: Scene, args: readonly string[] = []): Promise<any[]> {
  return (await scene.json(['run', 'list', ...args], none)).data.worktrees;
}

export async function inTree(scene: Scene, script: string, args: readonly string[] = [], code = 0): Promise<JsonRun> {
  return scene.json(['run', '--worktree', ...args, '--', 'sh', '-c', script], { ...none, code });
}

/** A repository with a program, a link, an empty file and a larger one. */
export function sample(): Scene {
  const scene = new Scene();
  scene.write({ 'run.sh': '#!/bin/sh\n', 'sub/deep/f': 'f\n', 'sub.txt': 's', big: 'x'.repeat(100_000), empty: '' });
  chmodSync(scene.at('run.sh'), 0o755);
  symlinkSync('sub/deep/f', scene.at('link'));
  scene.repository({ 'plan.txt': 'plan\n' });
  return scene;
}
