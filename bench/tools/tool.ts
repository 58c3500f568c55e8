import type { Measured } from '../command.js';

/** A program that ours is measured beside. */
export interface Tool {
  readonly name: 'git' | 'restic' | 'borg';
  /** An empty store in `place`, a folder that does not exist yet, for what is in `folder`. */
  open(place: string, folder: string): Promise<ToolStore>;
}

/** A store of one tool, for one folder. */
export interface ToolStore {
  readonly place: string;
  readonly save: () => Promise<Measured>;
  /** Writes what was saved last into an empty folder. */
  readonly restoreInto?: (folder: string) => Promise<Measured>;
}

/** Where the tools work: nothing of theirs lies outside. */
export interface Surroundings {
  /** The checkout. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}
