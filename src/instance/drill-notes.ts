import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import {
  type DrillNote,
  type DrillNotes,
  drillNoteFromJson,
  drillNoteToJson,
  isDrillName,
} from '../core/drill-note.js';
import { systemCode } from '../errors.js';
import { makeDirectoryDurably, writeDurably } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';

/** A file each, by the name of the drill's folder. */
export class FileDrillNotes implements DrillNotes {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  all(): DrillNote[] {
    return namesIn(this.#directory).flatMap((name) => this.#read(name) ?? []);
  }

  write(note: DrillNote): void {
    makeDirectoryDurably(this.#directory);
    writeDurably(join(this.#directory, note.name), `${JSON.stringify(drillNoteToJson(note))}\n`);
  }

  forget(name: string): void {
    rmSync(join(this.#directory, name), { force: true });
  }

  #read(name: string): DrillNote | undefined {
    try {
      return drillNoteFromJson(name, JSON.parse(readRegularFile(join(this.#directory, name), 'utf8')));
    } catch {
      // Whose folder it was nobody can tell: then nothing is removed for it.
      return undefined;
    }
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter(isDrillName);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
