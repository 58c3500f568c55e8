import { join } from 'node:path';
import type { Command, Measured } from '../command.js';
import { measure, run, settle } from '../command.js';
import { moreOf } from '../process-tree.js';
import type { Surroundings, ToolStore } from './tool.js';

/** A store of this checkout's command. Its settings are the default ones; only the size limit is lifted for large files. */
export class SnapStore implements ToolStore {
  private readonly surroundings: Surroundings;
  readonly place: string;
  private readonly folder: string;
  private readonly saveOptions: readonly string[];

  constructor(surroundings: Surroundings, place: string, folder: string, saveOptions: readonly string[] = []) {
    this.surroundings = surroundings;
    this.place = place;
    this.folder = folder;
    this.saveOptions = saveOptions;
  }

  readonly save = (): Promise<Measured> => this.measured(['save', ...this.saveOptions, this.folder]);

  restore(seq: number): Promise<Measured> {
    return this.measured(['restore', String(seq), '--yes']);
  }

  async newest(): Promise<number> {
    return (await this.snapshots(1))[0]!.seq;
  }

  async snapshots(limit: number): Promise<readonly { seq: number; files: number }[]> {
    const document = await run(this.command(['list', '--limit', String(limit), '--json']));
    return JSON.parse(document).data.snapshots;
  }

  /** Any command, measured. What it leaves running is waited for, outside its time, and counts for its memory. */
  async measured(words: readonly string[]): Promise<Measured> {
    const measured = await measure(this.command(words));
    return { ...measured, memory: moreOf(measured.memory, await settle(this.place)) };
  }

  private command(words: readonly string[]): Command {
    const options = ['--data-dir', this.place, '--instance', 'bench'];
    return snapCommand(this.surroundings, [...options, ...words]);
  }
}

export function snapCommand({ root, env }: Surroundings, words: readonly string[]): Command {
  return { program: process.execPath, arguments: [join(root, 'bin/jackin-snap'), ...words], cwd: '/', env };
}
