import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Input } from './recipe.js';

/** Writes the files of an input, and counts what it wrote. */
export class InputWriter {
  private readonly made = new Set<string>();
  private readonly contents = new Set<string>();
  private readonly changeable: string[] = [];
  private files = 0;
  private bytes = 0;

  private readonly name: string;
  private readonly folder: string;
  private readonly wanted: number;

  constructor(name: string, folder: string, wanted: number) {
    this.name = name;
    this.folder = folder;
    this.wanted = wanted;
    mkdirSync(folder, { recursive: true });
  }

  isFull(): boolean {
    return this.files >= this.wanted;
  }

  write(path: string, content: Uint8Array): void {
    const target = join(this.folder, path);
    const parent = dirname(target);
    if (!this.made.has(parent)) {
      mkdirSync(parent, { recursive: true });
      this.made.add(parent);
    }
    writeFileSync(target, content);
    // So many paths are kept that no two rounds need change the same ones.
    if (this.files % Math.max(1, Math.floor(this.wanted / 1000)) === 0) this.changeable.push(path);
    this.files += 1;
    this.bytes += content.length;
    this.contents.add(createHash('sha1').update(content).digest('base64'));
  }

  done(): Input {
    const { name, folder, files, bytes, changeable } = this;
    return { name, folder, files, bytes, distinctContents: this.contents.size, changeable };
  }
}
