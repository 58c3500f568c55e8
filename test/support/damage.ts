import { parentOf } from './bytes.js';
import type { DamageAction, Outcome, Scene } from './damage-actions.js';
import { damageActions } from './damage-actions.js';
import { withLentModes } from './lend.js';
import type { Random } from './random.js';
import { randomFrom } from './random.js';
import type { TreeEntry } from './walk.js';
import { walkTree } from './walk.js';

export interface DamageOptions {
  /** How many changes; default 20. */
  readonly rounds?: number;
  /** Paths that must stay as they are. A directory that holds such a path is neither removed, moved nor replaced. */
  readonly protect?: (path: string) => boolean;
  /** Only these kinds of change; default: all but 'new fifo', whose place no snapshot can hold. */
  readonly actions?: readonly DamageAction[];
  /** Modes that shut out an ordinary user; default: when this is root. */
  readonly privileged?: boolean;
}

export interface DamageReport {
  readonly round: number;
  readonly action: DamageAction;
  readonly path: string;
  /** The other path of a rename or hard link, the new target of a link, the new mode. */
  readonly to?: string;
}

/**
 * Changes a tree at random, as a careless or hostile program might, and tells what it did. All follows from the seed
 * and the tree: the same seed on an equal tree does the same. `.git` directories are left alone, those made on the way
 * too, and with them the directories that hold them; `.git` files are files like others. So are left FIFOs, sockets
 * and devices.
 */
export function damage(root: string, seed: number, options: DamageOptions = {}): DamageReport[] {
  const random = randomFrom(seed);
  const scene = openScene(root, options);
  const reports: DamageReport[] = [];
  const actions = options.actions ?? usualActions;
  for (let round = 0; round < (options.rounds ?? 20); round += 1) {
    const done = firstThatApplies(actions, scene, random);
    if (done === undefined) continue;
    const { action, path, to, changed } = done;
    reports.push({ round, action, path, ...(to === undefined ? {} : { to }) });
    scene.lookAgain(changed);
  }
  return reports;
}

const usualActions = (Object.keys(damageActions) as DamageAction[]).filter((action) => action !== 'new fifo');

// An action may find nothing to work on, such as a link in a tree without links.
function firstThatApplies(
  actions: readonly DamageAction[],
  scene: Scene,
  random: Random,
): (Outcome & { action: DamageAction }) | undefined {
  for (let tries = 0; tries < 10 * actions.length; tries += 1) {
    const action = random.pick(actions);
    const outcome = damageActions[action](scene, random);
    if (outcome !== undefined) return { action, ...outcome };
  }
  return undefined;
}

interface WatchedScene extends Scene {
  lookAgain(paths: readonly string[]): void;
}

function openScene(root: string, options: DamageOptions): WatchedScene {
  let entries = listBelow(root, '');
  let protection = protectionOf(entries, options);
  return {
    root,
    privileged: options.privileged ?? process.getuid?.() === 0,
    itself: (wanted) => entries.filter((entry) => wanted(entry) && !protection.itself.has(entry.path)),
    whole: (wanted) => entries.filter((entry) => wanted(entry) && !protection.whole.has(entry.path)),
    directories: () => [
      '',
      ...entries.filter((e) => e.type === 'directory' && !protection.itself.has(e.path)).map(({ path }) => path),
    ],
    isVacant: (path) => options.protect?.(path) !== true && !entries.some((entry) => entry.path === path),
    lookAgain: (paths) => {
      entries = entries.filter((entry) => !paths.some((path) => isWithin(entry.path, path)));
      entries.push(...paths.flatMap((path) => listBelow(root, path)));
      entries.sort((a, b) => (a.path < b.path ? -1 : 1));
      protection = protectionOf(entries, options);
    },
  };
}

// Nothing, where the path does not exist any more.
function listBelow(root: string, path: string): TreeEntry[] {
  try {
    return withLentModes(root, path, () => walkTree(root, { hash: false, lendModes: true, from: path }));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

interface Protection {
  readonly itself: ReadonlySet<string>;
  /** These, and the directories that hold them. */
  readonly whole: ReadonlySet<string>;
}

function protectionOf(entries: readonly TreeEntry[], options: DamageOptions): Protection {
  const itself = new Set<string>();
  const whole = new Set<string>();
  for (const entry of entries) {
    // Sorted by path: a .git directory comes before what it holds.
    const kept = isGitDir(entry) || gitDirAbove(entry.path, itself) || isSpecial(entry);
    if (!kept && options.protect?.(entry.path) !== true) continue;
    itself.add(entry.path);
    for (let step = entry.path; step !== '' && !whole.has(step); step = parentOf(step)) whole.add(step);
  }
  return { itself, whole };
}

// No snapshot could bring it back.
function isSpecial({ type }: TreeEntry): boolean {
  return type !== 'file' && type !== 'directory' && type !== 'symlink';
}

function isGitDir({ path, type }: TreeEntry): boolean {
  return type === 'directory' && (path === '.git' || path.endsWith('/.git'));
}

function gitDirAbove(path: string, known: ReadonlySet<string>): boolean {
  const parent = parentOf(path);
  return /(^|\/)\.git(\/|$)/.test(parent) && known.has(parent);
}

function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}
