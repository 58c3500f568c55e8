import { readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import type { InstanceName, ObjectId, Seq } from '../core/ids.js';
import { toSeq } from '../core/ids.js';
import { type InstanceRecord, recordFromJson, recordToJson } from '../core/instance-record.js';
import type { DamagedInstance, InstanceRegistry } from '../core/ports.js';
import { type WorktreeRecord, worktreeFromJson, worktreeToJson } from '../core/worktree-record.js';
import { SnapError, isSnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, removeUnfinished, writeDurably } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import type { DataDirectory } from './data-directory.js';

/**
 * The instances of a data directory, one folder each: instance.json, last-seq, last-restore,
 * fetched, activity.json, worktree.json. Every write is a new file that is synced and renamed.
 */
export class FileRegistry implements InstanceRegistry {
  readonly #directory: DataDirectory;

  constructor(directory: DataDirectory) {
    this.#directory = directory;
  }

  all(): InstanceRecord[] {
    return this.#names().flatMap((name) => {
      const record = this.#whole(name);
      return record === undefined || isFailure(record) ? [] : [record];
    });
  }

  damaged(): DamagedInstance[] {
    return this.#names().flatMap((name) => {
      const numbers = [attempt(() => this.lastSeq(name)), attempt(() => this.fetched(name))];
      const failure = [this.#whole(name), ...numbers].find(isFailure);
      return failure === undefined ? [] : [{ name, problem: problemOf(failure) }];
    });
  }

  find(name: InstanceName): InstanceRecord | undefined {
    const file = this.#file(name, 'instance.json');
    const text = readText(file);
    if (text === undefined) return undefined;
    let record: InstanceRecord;
    try {
      record = recordFromJson(JSON.parse(text));
    } catch (cause) {
      throw unreadable(file, String(cause), cause);
    }
    if (record.name !== name) throw unreadable(file, `it is that of instance ${record.name}`);
    return record;
  }

  write(record: InstanceRecord): void {
    this.find(record.name);
    this.#put(record.name, 'instance.json', `${JSON.stringify(recordToJson(record), null, 1)}\n`);
  }

  remove(name: InstanceName): void {
    // The last number that was used stays: it is used once, whatever becomes of the instance.
    rmSync(this.#file(name, 'instance.json'), { force: true });
  }

  /** @throws SnapError CONFIGURATION_INVALID rather than use a number twice */
  lastSeq(name: InstanceName): Seq | undefined {
    return readSeq(this.#file(name, 'last-seq'));
  }

  recordLastSeq(name: InstanceName, seq: Seq): void {
    this.#put(name, 'last-seq', `${String(seq)}\n`);
  }

  /** @throws SnapError CONFIGURATION_INVALID rather than have another restore taken back */
  lastRestore(name: InstanceName): Seq | undefined {
    return readSeq(this.#file(name, 'last-restore'));
  }

  recordRestore(name: InstanceName, emergency: Seq): void {
    this.#put(name, 'last-restore', `${String(emergency)}\n`);
  }

  /** @throws SnapError CONFIGURATION_INVALID rather than take a stranger's snapshot for one of ours */
  fetched(name: InstanceName): ReadonlyMap<Seq, ObjectId> {
    const file = this.#file(name, 'fetched');
    return new Map(linesOf(readText(file) ?? '').map((line) => fetchedFrom(file, line)));
  }

  recordFetched(name: InstanceName, snapshots: Parameters<InstanceRegistry['recordFetched']>[1]): void {
    this.#put(name, 'fetched', snapshots.map(({ seq, commit }) => `${String(seq)} ${commit}\n`).join(''));
  }

  readActivity(name: InstanceName): string | undefined {
    return readText(this.#file(name, 'activity.json'));
  }

  writeActivity(name: InstanceName, text: string): void {
    this.#put(name, 'activity.json', text);
  }

  clearActivity(name: InstanceName): void {
    try {
      unlinkSync(this.#file(name, 'activity.json'));
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }

  worktrees(): (WorktreeRecord | Pick<WorktreeRecord, 'name'>)[] {
    return this.#names().flatMap((name) => {
      const record = attempt(() => this.findWorktree(name));
      if (record === undefined) return [];
      return 'failure' in record ? [{ name }] : [record];
    });
  }

  findWorktree(name: InstanceName): WorktreeRecord | undefined {
    const file = this.#file(name, 'worktree.json');
    const text = readText(file);
    if (text === undefined) return undefined;
    try {
      return worktreeFromJson(JSON.parse(text));
    } catch (cause) {
      throw unreadable(file, String(cause), cause);
    }
  }

  writeWorktree(record: WorktreeRecord): void {
    this.#put(record.name, 'worktree.json', `${JSON.stringify(worktreeToJson(record), null, 1)}\n`);
  }

  forgetWorktree(name: InstanceName): void {
    rmSync(this.#file(name, 'worktree.json'), { force: true });
  }

  clearUnfinished(name: InstanceName): void {
    removeUnfinished(this.#directory.instanceDirectory(name));
  }

  #names(): InstanceName[] {
    return listed(this.#directory.instances) as InstanceName[];
  }

  #whole(name: InstanceName): InstanceRecord | undefined | Failure {
    return attempt(() => this.find(name));
  }

  #file(name: InstanceName, file: string): string {
    return join(this.#directory.instanceDirectory(name), file);
  }

  #put(name: InstanceName, file: string, text: string): void {
    makeDirectoryDurably(this.#directory.instanceDirectory(name));
    writeDurably(this.#file(name, file), text);
  }
}

function listed(folder: string): string[] {
  try {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => name).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Why a file could not be read, as SnapError or as the system has it. */
interface Failure {
  readonly failure: Error;
}

function attempt<Value>(read: () => Value): Value | Failure {
  try {
    return read();
  } catch (error) {
    if (!isSnapError(error, 'CONFIGURATION_INVALID') && systemCode(error) === undefined) throw error;
    return { failure: error as Error };
  }
}

function isFailure(value: object | number | undefined): value is Failure {
  return typeof value === 'object' && 'failure' in value;
}

function problemOf({ failure }: Failure): string {
  return isSnapError(failure, 'CONFIGURATION_INVALID')
    ? `${failure.message} ${oneLine(failure.data.problem)}`
    : failure.message;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

function readSeq(file: string): Seq | undefined {
  const text = readText(file);
  const seq = toSeq(text?.trim() ?? '');
  if (text === undefined || seq !== undefined) return seq;
  throw unreadable(file, 'it holds no number');
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function fetchedFrom(file: string, line: string): [Seq, ObjectId] {
  const [, number = '', commit] = /^([0-9]+) ([0-9a-f]{40})$/.exec(line) ?? [];
  const seq = toSeq(number);
  if (seq !== undefined && commit !== undefined) return [seq, commit as ObjectId];
  throw unreadable(file, 'it holds a line that is no number with a commit');
}

function readText(file: string): string | undefined {
  try {
    return readRegularFile(file, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR' || code === 'ENXIO') throw unreadable(file, 'it is no regular file', error);
    throw error;
  }
}

function unreadable(file: string, problem: string, cause?: unknown): SnapError<'CONFIGURATION_INVALID'> {
  const message = `The instance's file ${file} cannot be read.`;
  return new SnapError('CONFIGURATION_INVALID', message, { file, problem }, { cause });
}
