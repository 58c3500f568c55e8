import { fstatSync, ftruncateSync, mkdtempSync, renameSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFifo } from './build-tree.js';
import { joinPath, parentOf, toBytes } from './bytes.js';
import { withLentModes } from './lend.js';
import * as meddle from './meddle.js';
import type { Random } from './random.js';
import { reach } from './reach.js';
import { removeTree } from './remove-tree.js';
import type { TreeEntry } from './walk.js';

/** The tree as the damager sees it. Lists are sorted, so that the same numbers pick the same entries. */
export interface Scene {
  readonly root: string;
  readonly privileged: boolean;
  /** Entries that may be changed themselves. */
  itself(wanted: (entry: TreeEntry) => boolean): TreeEntry[];
  /** Entries that may be changed with all that they hold. */
  whole(wanted: (entry: TreeEntry) => boolean): TreeEntry[];
  /** Where new entries may be made; '' is the root. */
  directories(): string[];
  isVacant(path: string): boolean;
}

/** What was done, with every path below which something changed. */
export interface Outcome {
  readonly path: string;
  readonly to?: string;
  readonly changed: readonly string[];
}

export type DamageAction = keyof typeof actions;

type Act = (scene: Scene, random: Random) => Outcome | undefined;

const actions = {
  append: (scene, random) =>
    onFile(scene, random, ({ path }) =>
      meddle.changeFile(scene.root, path, (descriptor) => {
        writeSync(descriptor, toBytes(random.bytes(1 + random.below(100))), 0, null, fstatSync(descriptor).size);
      }),
    ),
  truncate: (scene, random) =>
    onFile(scene, random, ({ path, size }) =>
      meddle.changeFile(scene.root, path, (descriptor) => ftruncateSync(descriptor, random.below(size))),
    ),
  'edit unnoticed': (scene, random) =>
    onFile(scene, random, ({ path, size }) =>
      meddle.editUnnoticed(scene.root, path, random.below(size), 1 + random.below(255)),
    ),
  replace: (scene, random) =>
    onFile(scene, random, ({ path }) =>
      meddle.replaceFile(scene.root, path, vacantBeside(scene, random, path), toBytes(random.bytes(random.below(200)))),
    ),
  delete: (scene, random) =>
    onOne(random, scene.whole(anything), ({ path }) => {
      meddle.remove(scene.root, path);
      return { path, changed: [path] };
    }),
  rename,
  'change mode': changeMode,
  'make read-only': (scene, random) =>
    onOne(random, scene.itself(isDirectory), ({ path }) => setMode(scene, path, 0o555)),
  'change type': changeType,
  retarget: (scene, random) =>
    onOne(random, scene.itself(isSymlink), ({ path, target }) => {
      const to = random.pick(targets.filter((other) => other !== target));
      meddle.unlink(scene.root, path);
      meddle.createSymlink(scene.root, path, to);
      return { path, to, changed: [path] };
    }),
  'new file': (scene, random) => onNew(scene, random, (path) => newFile(scene, random, path)),
  'new directory': (scene, random) => onNew(scene, random, (path) => newDirectory(scene, random, path)),
  'new symlink': (scene, random) =>
    onNew(scene, random, (path) => meddle.createSymlink(scene.root, path, random.pick(targets))),
  'new repository': (scene, random) => onNew(scene, random, (path) => newRepository(scene, random, path)),
  'break hard link': (scene, random) =>
    onOne(
      random,
      scene.itself((entry) => entry.type === 'file' && entry.nlink > 1),
      ({ path }) => {
        const bytes = meddle.readBytes(scene.root, path);
        meddle.replaceFile(scene.root, path, vacantBeside(scene, random, path), bytes);
        return { path, changed: [path] };
      },
    ),
  'new hard link': newHardLink,
  'new fifo': (scene, random) => onNew(scene, random, (path) => newFifo(scene, path)),
} as const satisfies Record<string, Act>;

/** Each kind of change. One that finds nothing to work on answers undefined and has changed nothing. */
export const damageActions: Readonly<Record<DamageAction, Act>> = actions;

const targets = ['nowhere', '..', '.', '/etc/hostname', '../../outside', 'x\xff\n', '.git'];

function anything(): boolean {
  return true;
}

function isDirectory({ type }: TreeEntry): boolean {
  return type === 'directory';
}

function isSymlink({ type }: TreeEntry): boolean {
  return type === 'symlink';
}

function onOne(random: Random, from: TreeEntry[], act: (entry: TreeEntry) => Outcome | undefined): Outcome | undefined {
  return from.length === 0 ? undefined : act(random.pick(from));
}

function onFile(scene: Scene, random: Random, act: (entry: TreeEntry) => void): Outcome | undefined {
  const files = scene.itself(({ type, size }) => type === 'file' && size > 0 && size < 1 << 28);
  return onOne(random, files, (entry) => {
    act(entry);
    return { path: entry.path, changed: [entry.path] };
  });
}

function onNew(scene: Scene, random: Random, make: (path: string) => void): Outcome {
  const path = vacantIn(scene, random, random.pick(scene.directories()));
  make(path);
  return { path, changed: [path] };
}

function vacantBeside(scene: Scene, random: Random, path: string): string {
  return vacantIn(scene, random, parentOf(path));
}

function vacantIn(scene: Scene, random: Random, directory: string): string {
  for (;;) {
    const tail = random.pick(['', '', '', '\xff', ' ', '\n', utf8Tail]);
    const path = joinPath(directory, `new-${random.below(1_000_000)}${tail}`);
    if (scene.isVacant(path)) return path;
  }
}

const utf8Tail = '\xc3\xa9';

function rename(scene: Scene, random: Random): Outcome | undefined {
  return onOne(random, scene.whole(anything), ({ path }) => {
    const homes = scene.directories().filter((home) => home !== path && !home.startsWith(`${path}/`));
    const to = otherCase(scene, random, path) ?? vacantIn(scene, random, random.pick(homes));
    meddle.move(scene.root, path, to);
    return { path, to, changed: [path, to] };
  });
}

// Now and then only the case of the name changes.
function otherCase(scene: Scene, random: Random, path: string): string | undefined {
  if (!random.oneIn(4)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const flipped = name.replace(/[a-zA-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 0x20));
  const to = joinPath(parentOf(path), flipped);
  return scene.isVacant(to) && flipped !== '.git' ? to : undefined;
}

function changeMode(scene: Scene, random: Random): Outcome | undefined {
  return onOne(
    random,
    scene.itself((entry) => !isSymlink(entry)),
    ({ path, type }) => {
      const flipped =
        meddle.modeOf(scene.root, path) ^ random.pick([0o111, 0o022, 0o200, 0o044, 0o777, 0o1000, 0o4000]);
      const needed = type === 'directory' ? 0o500 : 0o400;
      return setMode(scene, path, scene.privileged ? flipped : flipped | needed);
    },
  );
}

function setMode(scene: Scene, path: string, mode: number): Outcome | undefined {
  if (meddle.modeOf(scene.root, path) === mode) return undefined;
  meddle.setMode(scene.root, path, mode);
  return { path, to: mode.toString(8), changed: [path] };
}

function changeType(scene: Scene, random: Random): Outcome | undefined {
  return onOne(random, scene.whole(anything), ({ path, type }) => {
    const to = random.pick((['file', 'directory', 'symlink'] as const).filter((other) => other !== type));
    meddle.remove(scene.root, path);
    if (to === 'file') newFile(scene, random, path);
    else if (to === 'directory') newDirectory(scene, random, path);
    else meddle.createSymlink(scene.root, path, random.pick(targets));
    return { path, to, changed: [path] };
  });
}

function newFile(scene: Scene, random: Random, path: string): void {
  const content = random.pick(['', 'new\n', 'a\r\nb\r\n', random.bytes(random.below(300))]);
  meddle.createFile(scene.root, path, toBytes(content), random.pick([0o644, 0o644, 0o755, 0o600, 0o444]));
}

function newDirectory(scene: Scene, random: Random, path: string): void {
  meddle.createDirectory(scene.root, path);
  for (let count = random.below(3); count > 0; count -= 1) newFile(scene, random, joinPath(path, `inside-${count}`));
}

// By hand, so that no version of git decides what it holds.
function newRepository(scene: Scene, random: Random, path: string): void {
  const { root } = scene;
  for (const name of ['', '.git', '.git/objects', '.git/refs', '.git/refs/heads']) {
    meddle.createDirectory(root, name === '' ? path : joinPath(path, name));
  }
  meddle.createFile(root, joinPath(path, '.git/HEAD'), toBytes('ref: refs/heads/main\n'));
  const config = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n';
  meddle.createFile(root, joinPath(path, '.git/config'), toBytes(config));
  newFile(scene, random, joinPath(path, 'work'));
}

function newHardLink(scene: Scene, random: Random): Outcome | undefined {
  return onOne(
    random,
    scene.itself(({ type }) => type === 'file'),
    ({ path: to, ino }) => {
      const made = vacantIn(scene, random, random.pick(scene.directories()));
      if (!meddle.createHardLink(scene.root, made, to)) return undefined;
      const others = scene.whole((entry) => entry.type === 'file' && entry.ino !== ino);
      if (others.length === 0 || random.oneIn(2)) return { path: made, to, changed: [made] };
      const { path } = random.pick(others);
      meddle.remove(scene.root, path);
      meddle.move(scene.root, made, path);
      return { path, to, changed: [path] };
    },
  );
}

// mkfifo takes no names of any bytes, rename does.
function newFifo(scene: Scene, path: string): void {
  const full = resolve(scene.root);
  const area = mkdtempSync(join(dirname(full), `.${basename(full).slice(0, 40)}-`));
  try {
    makeFifo(join(area, 'made'));
    const moveIn = (): void => reach(scene.root, path, (hostPath) => renameSync(join(area, 'made'), hostPath));
    withLentModes(scene.root, path, moveIn);
  } finally {
    removeTree(area);
  }
}
