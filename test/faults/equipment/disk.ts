import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { removeTree } from '../../support/remove-tree.js';

export type FileSystem = keyof typeof kinds;

/** The smallest images that can be made, and no writing but what is asked for: timers would spoil what a cut loses. */
const kinds = {
  ext4: { megabytes: 64, make: ['mkfs.ext4', '-q', '-F'], options: 'commit=600' },
  xfs: { megabytes: 300, make: ['mkfs.xfs', '-q', '-f'], options: 'rw' },
  btrfs: { megabytes: 128, make: ['mkfs.btrfs', '-q', '-f'], options: 'commit=600' },
} as const;

export const fileSystems = Object.keys(kinds) as readonly FileSystem[];

/**
 * A file system in an image, behind a loop device. What the kernel has not written to the device yet is not in the image:
 * a copy of it is what a power cut would leave.
 */
export class Disk {
  readonly #kind: FileSystem;
  readonly #folder: string;
  readonly #image: string;
  readonly #top: string;
  readonly #device: string;
  /** Folders of the file system, each with the place where it is to be seen. */
  readonly #places: readonly { readonly name: string; readonly at: string }[];
  #seen = false;

  /** @param places names of folders in it, by the paths at which they are to be seen */
  constructor(kind: FileSystem, folder: string, places: Readonly<Record<string, string>>) {
    this.#kind = kind;
    this.#folder = folder;
    this.#image = join(folder, 'image');
    this.#top = join(folder, 'top');
    this.#places = Object.entries(places).map(([name, at]) => ({ name, at }));
    mkdirSync(this.#top, { recursive: true });
    const { megabytes, make } = kinds[kind];
    writeFileSync(this.#image, '');
    truncateSync(this.#image, megabytes * 1024 * 1024);
    must([...make, this.#image]);
    this.#device = must(['losetup', '--find', '--show', this.#image]);
    // Before anybody removes what lies below the places.
    process.prependOnceListener('exit', this.#give);
    try {
      this.#begin();
    } catch (error) {
      this.#give();
      throw error;
    }
  }

  #begin(): void {
    this.#mount();
    for (const { name, at } of this.#places) {
      mkdirSync(join(this.#top, name), { mode: 0o700 });
      mkdirSync(at, { recursive: true, mode: 0o700 });
    }
    this.#bind();
  }

  sync(): void {
    must(['sync', '-f', this.#top]);
  }

  /** How often the device was written to. */
  get writes(): number {
    return this.#statistics().writes;
  }

  /** The image as it is at one moment. Others may be at work meanwhile: then the moment is a later one. */
  copy(to: string): void {
    for (let turn = 0; turn < 1000; turn += 1) {
      const before = this.#statistics();
      if (before.inFlight > 0) {
        Atomics.wait(idle, 0, 0, 2);
        continue;
      }
      must(['cp', '--sparse=always', '--reflink=auto', this.#image, to]);
      const after = this.#statistics();
      if (after.inFlight === 0 && after.writes === before.writes) return;
    }
    throw new Error(`The ${this.#kind} image never was at rest.`);
  }

  /** The machine starts again, with this image for its disk. */
  async restart(image: string): Promise<void> {
    await this.#unmount();
    must(['blockdev', '--flushbufs', this.#device]);
    must(['cp', '--sparse=always', image, this.#image]);
    this.#mount();
    this.#bind();
  }

  async remove(): Promise<void> {
    await this.#unmount();
    process.off('exit', this.#give);
    must(['losetup', '--detach', this.#device]);
    removeTree(this.#folder);
  }

  /** At once, and whatever is at work in it. */
  giveBack(): void {
    process.off('exit', this.#give);
    this.#give();
  }

  readonly #give = (): void => {
    for (const path of this.#mounted()) spawnSync('umount', ['-l', path]);
    spawnSync('losetup', ['--detach', this.#device]);
  };

  #mounted(): string[] {
    return [...this.#places.map(({ at }) => at), this.#top];
  }

  #mount(): void {
    must(['mount', '-t', this.#kind, '-o', kinds[this.#kind].options, this.#device, this.#top]);
    this.#seen = true;
  }

  #bind(): void {
    for (const { name, at } of this.#places) must(['mount', '--bind', join(this.#top, name), at]);
  }

  async #unmount(): Promise<void> {
    if (!this.#seen) return;
    for (const path of this.#mounted()) await unmounted(path);
    this.#seen = false;
    // It remembers devices by what was on them.
    if (this.#kind === 'btrfs') spawnSync('btrfs', ['device', 'scan', '--forget', this.#device]);
  }

  #statistics(): { readonly writes: number; readonly inFlight: number } {
    const numbers = readFileSync(`/sys/block/${basename(this.#device)}/stat`, 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number);
    return { writes: numbers[4]!, inFlight: numbers[8]! };
  }
}

const idle = new Int32Array(new SharedArrayBuffer(4));

const lacking = new Map<FileSystem, string | undefined>();

/** What this machine lacks for such images, in words; undefined when nothing. */
export function lacksDisk(kind: FileSystem): string | undefined {
  if (!lacking.has(kind)) lacking.set(kind, whyNot(kind));
  return lacking.get(kind);
}

function whyNot(kind: FileSystem): string | undefined {
  if (process.getuid?.() !== 0) return 'loop devices need root';
  const [maker] = kinds[kind].make;
  if (spawnSync('sh', ['-c', `command -v ${maker}`]).status !== 0) return `${maker} is missing`;
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'jackin-disk-'));
  try {
    new Disk(kind, folder, {}).giveBack();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a save started in the background may be at work for a moment yet. */
async function unmounted(path: string): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    if (spawnSync('umount', [path]).status === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  must(['umount', path]);
}

function must([program = '', ...args]: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}
