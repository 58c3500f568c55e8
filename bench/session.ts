import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { remove } from './disk.js';
import type { Input, Recipe } from './inputs/recipe.js';
import { Results } from './results.js';
import type { RowName, Settings } from './settings.js';
import type { Sizes } from './sizes.js';
import { fullSizes, quickSizes } from './sizes.js';
import type { Installed } from './tools/installed.js';
import { installedPeers } from './tools/installed.js';
import type { Surroundings } from './tools/tool.js';

/** One run of the bench: what is measured, where, and what came of it so far. */
export class Session {
  readonly results = new Results();
  readonly sizes: Sizes;
  readonly surroundings: Surroundings;
  readonly peers: Installed;
  private readonly begin = performance.now();
  private places = 0;
  failed = false;

  readonly settings: Settings;
  readonly root: string;

  constructor(settings: Settings, root: string) {
    this.settings = settings;
    this.root = root;
    this.sizes = settings.quick ? quickSizes : fullSizes;
    const home = join(settings.work, 'home');
    mkdirSync(home, { recursive: true });
    // Nothing of the user's settings counts, and nothing of theirs is written.
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: settings.work, LC_ALL: 'C', NO_COLOR: '1' };
    this.surroundings = { root, env: { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } };
    this.peers = installedPeers(this.surroundings);
    for (const name of this.peers.missing) this.note(`${name} is not installed and was left out.`);
  }

  wants(row: RowName): boolean {
    return this.settings.rows.includes(row);
  }

  wantsAny(rows: readonly RowName[]): boolean {
    return rows.some((row) => this.wants(row));
  }

  runs(usual: number): number {
    return this.settings.runs ?? (this.settings.quick ? 1 : usual);
  }

  /** Makes an input, in another process: this one stays small, since that decides how quickly it starts others. */
  make(recipe: Recipe): Input {
    const { root, settings, surroundings } = this;
    this.say(`making ${recipe.name}`);
    const words = [join(import.meta.dirname, 'make.js'), root, JSON.stringify(recipe)];
    const made = spawnSync(process.execPath, words, {
      env: surroundings.env,
      cwd: settings.work,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (made.error !== undefined || made.status !== 0) {
      throw new Error(`making ${recipe.name} failed: ${made.stderr}`, { cause: made.error });
    }
    const input = JSON.parse(made.stdout) as Input;
    if (input.files > 0) this.results.inputs.push(input);
    return input;
  }

  /** The same for the same seed and purpose, whatever else is measured. */
  seed(purpose: number): number {
    return this.settings.seed * 1000 + purpose;
  }

  /** A path in the work folder that nothing has used. */
  place(name: string): string {
    this.places += 1;
    return join(this.settings.work, `${name}-${this.places}`);
  }

  /** Removes whatever lies in the work folder but what the tools share. */
  clear(): void {
    for (const name of readdirSync(this.settings.work)) {
      if (name !== 'home') remove(join(this.settings.work, name));
    }
  }

  /** Files that were just written are not trusted to be unchanged, by git as little as by us: waits until they are. */
  async untilTrusted(): Promise<void> {
    await pause(this.settings.quick ? 20 : 2100);
  }

  /** Part of the bench did not come to its end: the rest is measured all the same. */
  fail(text: string): void {
    this.failed = true;
    this.note(`FAILED: ${text}`);
  }

  note(text: string): void {
    this.results.notes.push(text);
    this.say(text);
  }

  say(text: string): void {
    const elapsed = Math.round((performance.now() - this.begin) / 1000);
    process.stderr.write(`[${String(elapsed).padStart(5)} s] ${text}\n`);
  }
}
