import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { DocumentCommand } from '../../src/schemas.js';
import { documentSchema } from '../../src/schemas.js';
import { FakeJackin } from '../support/jackin-home.js';
import { walkTree } from '../support/walk.js';
import { Scene, type JsonRun, type RunOptions } from './scene.js';

/** A token in the form that a vendor gives to its own, put together so that no scanner finds it here. */
export const token: string = ['gh', 'p_', '1234567890abcdefghijklmnopqrstuvwxyz'].join('');
export const canary = 'canary-7f3a9c51d2';

/** What agents have in their homes: settings, logins, transcripts, and things that are neither. */
export const homes: Readonly<Record<string, string>> = {
  '.claude/settings.json': '{ "model": "opus" }\n',
  '.claude/agents/reviewer.md': 'Review.\n',
  '.claude/plugins/known/plugin.json': '{}\n',
  '.claude/plugins/known/.git/HEAD': 'ref: refs/heads/main\n',
  '.claude/plugins/known/credentials.json': `{ "t": "${canary}" }\n`,
  '.claude/plugins/leaky.json': `{ "note": "${token}" }\n`,
  '.claude/plugins/hushed.md': `<!-- secretlint-disable -->\n${token}\n`,
  '.claude/settings.local.json': `{ "env": { "SHOP_API_KEY": "${canary}-0123456789" } }\n`,
  '.claude/projects/p/session.jsonl': `{ "said": "${canary}" }\n`,
  '.claude/.credentials.json': `{ "t": "${canary}" }\n`,
  '.claude.json': `{ "t": "${canary}" }\n`,
  '.codex/config.toml': 'model = "o4"\n',
  '.codex/auth.json': `{ "t": "${canary}" }\n`,
  '.config/amp/settings.json': '{}\n',
  '.local/share/amp/secrets.json': `{ "t": "${canary}" }\n`,
  '.kimi-code/config.toml': `key = "${canary}"\n`,
  '.kimi-code/device_id': `${canary}\n`,
  '.config/opencode/opencode.json': '{}\n',
  '.local/share/opencode/auth.json': `{ "t": "${canary}" }\n`,
  '.grok/auth.json': `{ "t": "${canary}" }\n`,
  '.grok/skills/one/SKILL.md': 'A skill.\n',
};

export interface StateScene {
  readonly scene: Scene;
  readonly jackin: FakeJackin;
  /** The folder that is saved. */
  readonly shop: string;
  readonly container: string;
  /** The agents' home. */
  readonly home: string;
  readonly write: (path: string, content: string | Buffer) => void;
  /** Runs the program for the session, from elsewhere. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<JsonRun>;
  readonly git: (...args: string[]) => string;
  /** The paths of a snapshot's state. */
  readonly stored: (seq: number, name?: string) => string[];
  /** Sets the workspace up anew, with more in its file. */
  readonly workspace: (more: string) => void;
}

/** A session of jackin's over one folder, whose saves store state, too. */
export function sceneWithState(files: Readonly<Record<string, string>> = homes): StateScene {
  const scene = new Scene();
  const jackin = new FakeJackin(scene.area);
  const shop = scene.folder('shop', { a: 'a\n' });
  const workspace = (more: string): void => {
    jackin.workspace(
      'shop',
      `[[mounts]]\nsrc = "${shop}"\ndst = "/workspace"\n[recovery]\nsnapshot = "project-and-state"\n${more}`,
    );
  };
  workspace('');
  const container = jackin.session({ status: 'preserved_dirty' });
  jackin.exited(container, 0);
  const home = join(jackin.data, container, 'home');
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const run = (args: readonly string[], options: RunOptions = {}): Promise<JsonRun> =>
    scene.json(args, { env: jackin.env, instance: container, cwd: scene.outside, ...options });
  const git = (...args: string[]): string =>
    execFileSync('git', [`--git-dir=${scene.store}`, ...args], { encoding: 'utf8' });
  const stored = (seq: number, name = 'state'): string[] =>
    git('ls-tree', '-r', '--name-only', `refs/jackin/${container}/${seq}:mounts/${name}`).trim().split('\n');
  return { scene, jackin, shop, container, home, write, run, git, stored, workspace };
}

/** What of the agents' homes of the scene is state, and how it is counted. */
export const kept: readonly string[] = [
  '.claude/agents/reviewer.md',
  '.claude/plugins/known/plugin.json',
  '.claude/settings.json',
  '.codex/config.toml',
  '.config/amp/settings.json',
  '.config/opencode/opencode.json',
  '.grok/skills/one/SKILL.md',
];

export function filesIn(folder: string): string[] {
  return walkTree(folder)
    .filter(({ type }) => type !== 'directory')
    .map(({ path }) => path);
}

/** Every byte of every file and link below a folder. */
export function everythingIn(folder: string): string {
  return filesIn(folder)
    .map((path) => execFileSync('cat', [join(folder, path)], { encoding: 'latin1' }))
    .join('\n');
}

export function expectDocument({ document, stdout }: JsonRun): void {
  const parsed = documentSchema(document.command as DocumentCommand).safeParse(document);
  expect(parsed.error?.issues, stdout.slice(0, 1000)).toBeUndefined();
}

/** Puts more into the stored state of snapshot 1 than a save would, as somebody who has the store could. */
export function plant({ git, container, scene }: StateScene, files: Readonly<Record<string, string>>): void {
  const index = join(scene.area, 'planted-index');
  const env = { PATH: process.env['PATH'] ?? '', GIT_INDEX_FILE: index, GIT_DIR: scene.store, HOME: '/nonexistent' };
  const run = (args: string[], input = ''): string =>
    execFileSync('git', args, { env, input, encoding: 'utf8' }).trim();
  const ref = `refs/jackin/${container}/1`;
  run(['read-tree', `${ref}^{tree}`]);
  for (const [path, content] of Object.entries(files)) {
    const blob = run(['hash-object', '-w', '--stdin'], content);
    run(['update-index', '--add', '--cacheinfo', `100644,${blob},mounts/state/${path}`]);
  }
  const tree = run(['write-tree']);
  const commit = git('cat-file', 'commit', ref).replace(/^tree \w+/, `tree ${tree}`);
  run(['update-ref', ref, run(['hash-object', '-w', '-t', 'commit', '--stdin'], commit)]);
}
