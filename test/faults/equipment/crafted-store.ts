import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { storeGit } from '../../support/store-git.js';
import { writeFiles } from '../../support/user-git.js';
import type { Area } from './area.js';

/** An entry of a tree as it is written, sound or not. Names are bytes as latin1. */
export interface Raw {
  readonly mode: string;
  readonly name: string;
  readonly oid: string;
}

/** Beside a snapshot that is sound, one that nobody saved: number 2, whatever it holds. */
export class CraftedStore {
  readonly area: Area;
  /** A program that leaves a mark, for whoever starts what a store names. */
  readonly trap: string;
  readonly mark: string;

  constructor(area: Area) {
    this.area = area;
    this.mark = area.at('mark');
    this.trap = area.at('trap');
    writeFiles(area.at(), { trap: `#!/bin/sh\n/usr/bin/touch '${this.mark}'\nexit 1\n` });
    chmodSync(this.trap, 0o755);
  }

  at(name: string): string {
    return join(this.area.store, name);
  }

  write(type: 'blob' | 'tree' | 'commit' | 'tag', content: string | Uint8Array): string {
    const stdin = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
    const args = ['hash-object', '-t', type, '-w', '--stdin', '--literally'];
    return storeGit(this.area.dataDir, args, { stdin }).stdout.trim();
  }

  tree(entries: readonly Raw[]): string {
    const parts = entries.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]);
    return this.write('tree', Buffer.concat(parts));
  }

  /** The id of a part of the sound snapshot: `:meta`, `:mounts/m/a`. */
  sound(part: string): string {
    return this.#git('rev-parse', `refs/jackin/t/1${part}`).trim();
  }

  text(part: string): string {
    return this.#git('cat-file', 'blob', `refs/jackin/t/1${part}`);
  }

  /** Whatever git thinks of it. */
  ref(name: string, oid: string): void {
    writeFiles(this.area.store, { [name]: `${oid}\n` });
  }

  /** Makes it; what is not said is as in the sound one. */
  snapshot(parts: {
    readonly mount?: string;
    readonly manifest?: string;
    readonly attributes?: string;
    readonly observed?: string;
    readonly root?: string;
    readonly message?: (sound: string) => string;
  }): void {
    const blob = (text: string): string => this.write('blob', text);
    const file = (name: string, oid: string): Raw => ({ mode: '100644', name, oid });
    const folder = (name: string, oid: string): Raw => ({ mode: '40000', name, oid });
    const lists = this.tree([
      file('attributes', blob(parts.attributes ?? '')),
      file('observed', blob(parts.observed ?? '')),
    ]);
    const manifest = blob(parts.manifest ?? this.manifest(() => undefined));
    const meta = this.tree([file('manifest.json', manifest), folder('mounts', this.tree([folder('m', lists)]))]);
    const mounts = this.tree([folder('m', parts.mount ?? this.sound(':mounts/m'))]);
    const root = parts.root ?? this.tree([folder('meta', meta), folder('mounts', mounts)]);
    const message = this.#git('cat-file', 'commit', 'refs/jackin/t/1')
      .replace(/^tree .*$/m, `tree ${root}`)
      .replace('Jackin-Seq: 1', 'Jackin-Seq: 2');
    this.ref('refs/jackin/t/2', this.write('commit', parts.message?.(message) ?? message));
  }

  /** The sound manifest as that of number 2, with something changed. */
  manifest(change: (manifest: Record<string, unknown>) => void): string {
    const manifest = JSON.parse(this.text(':meta/manifest.json')) as Record<string, unknown>;
    manifest['seq'] = 2;
    change(manifest);
    return JSON.stringify(manifest);
  }

  #git(...args: string[]): string {
    return storeGit(this.area.dataDir, args, { env: { GIT_NO_REPLACE_OBJECTS: '1' } }).stdout;
  }
}
