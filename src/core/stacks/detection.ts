import { bytesOfText } from '../entry-path.js';
import type { StackPreset } from './preset.js';

/** Presets as a walk asks for them: by the names in one directory. Names and patterns are bytes. */
export class StackDetector {
  readonly presets: readonly StackPreset[];
  readonly #ways: readonly { readonly preset: StackPreset; readonly names: readonly string[] }[];
  readonly #markers: ReadonlySet<string>;

  constructor(presets: readonly StackPreset[]) {
    this.presets = presets;
    this.#ways = presets.flatMap((preset) =>
      preset.detect.map((names) => ({ preset, names: names.map((name) => bytesOfText(name)) })),
    );
    this.#markers = new Set(this.#ways.flatMap(({ names }) => names));
  }

  /**
   * The presets that a directory with these names belongs to, each once. Their patterns hold for the directory and all
   * below it; a path that the user's repository tracks is exempt.
   */
  foundIn(namesInDirectory: readonly string[]): readonly StackPreset[] {
    const seen = new Set<string>();
    for (const name of namesInDirectory) this.#noteMarker(name, seen);
    if (seen.size === 0) return none;
    const found = this.#ways.filter(({ names }) => names.every((name) => seen.has(name)));
    return [...new Set(found.map(({ preset }) => preset))];
  }

  /** The same for the same presets, whatever they are called by. */
  key(): string {
    return JSON.stringify(this.presets.map(({ name, detect, patterns }) => [name, detect, patterns]));
  }

  #noteMarker(name: string, seen: Set<string>): void {
    if (this.#markers.has(name)) seen.add(name);
    const dot = name.lastIndexOf('.');
    if (dot < 0) return;
    const ending = `*${name.slice(dot)}`;
    if (this.#markers.has(ending)) seen.add(ending);
  }
}

const none: readonly StackPreset[] = [];

/** The patterns of a preset as an ignore file would have them, bytes. */
export function contentOf(preset: StackPreset): string {
  return preset.patterns.map((pattern) => bytesOfText(pattern)).join('\n');
}
