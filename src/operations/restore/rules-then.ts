import { Buffer } from 'node:buffer';

import type { NameRules } from '../../core/classify.js';
import type { StoredFile } from '../../core/entry.js';
import {
  type EntryPath,
  ancestorsOf,
  baseName,
  parentPath,
  parseEntryPath,
  pathFromJson,
  rootPath,
} from '../../core/entry-path.js';
import { IgnoreRules, patternSet } from '../../core/ignore-rules.js';
import type { Manifest, ManifestMount } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import { StackDetector } from '../../core/stacks/detection.js';
import { noDetector, usualDetector } from '../../core/stacks/in-force.js';
import type { StackPreset } from '../../core/stacks/preset.js';
import { SnapError } from '../../errors.js';
import { ignoreFileAtMost, withPresets } from '../capture/mount-rules.js';
import type { MountContent } from '../snapshot-content.js';
import { streamStored, withZeros } from '../stored-bytes.js';

/** Null for one that the save did not read either. */
async function readRules(reader: ObjectReader, entry: StoredFile): Promise<string | null> {
  if (entry.size > ignoreFileAtMost) return null;
  const parts: Buffer[] = [];
  await streamStored(
    reader,
    entry,
    withZeros((chunk) => void parts.push(Buffer.from(chunk))),
  );
  return Buffer.concat(parts).toString('latin1');
}

/** The rules that were in force when a snapshot was made, from what it stores: its policy and its own ignore files. */
export class RulesThen {
  readonly #base: Pick<NameRules, 'policy' | 'rootName' | 'includes' | 'excludes'>;
  readonly #stacks: StackDetector;
  readonly #content: MountContent;
  /** Ignore files by their folder; null where they could not be read. */
  readonly #ignoreFiles: ReadonlyMap<EntryPath, readonly (string | null)[]>;
  readonly #layers = new Map<EntryPath, { readonly ignore: IgnoreRules; readonly stacks: IgnoreRules }>();
  #namesByFolder: Map<EntryPath, string[]> | undefined;

  private constructor(
    content: MountContent,
    manifest: Manifest,
    ignoreFiles: ReadonlyMap<EntryPath, readonly (string | null)[]>,
  ) {
    const { policy } = manifest;
    this.#content = content;
    this.#stacks = stacksThen(manifest, content.manifest);
    this.#ignoreFiles = ignoreFiles;
    const rootName = baseName(pathFromJson(content.manifest.path) as EntryPath);
    this.#base = { policy, rootName, includes: patternSet(policy.include), excludes: patternSet(policy.exclude) };
  }

  static async read(reader: ObjectReader, content: MountContent, manifest: Manifest): Promise<RulesThen> {
    const files = new Map<EntryPath, (string | null)[]>();
    const add = (folder: EntryPath, text: string | null): void => {
      files.set(folder, [...(files.get(folder) ?? []), text]);
    };
    if (manifest.policy.gitignore) {
      for (const { path, content: text } of content.manifest.exclude_files)
        add(parseEntryPath(pathFromJson(path)), pathFromJson(text));
      for (const path of content.manifest.rules_unknown) add(parseEntryPath(pathFromJson(path)), null);
      for (const entry of content.entries.values()) {
        if (entry.kind !== 'file' || baseName(entry.path) !== '.gitignore') continue;
        add(parentPath(entry.path), await readRules(reader, entry));
      }
    }
    return new RulesThen(content, manifest, files);
  }

  /** The rules by name in force where the path would lie. */
  rulesFor(path: EntryPath): NameRules {
    return { ...this.#base, ...this.#layersOf(parentPath(path)) };
  }

  #layersOf(folder: EntryPath): { readonly ignore: IgnoreRules; readonly stacks: IgnoreRules } {
    const known = this.#layers.get(folder);
    if (known !== undefined) return known;
    let layers =
      this.#layers.get(rootPath) ?? this.#add({ ignore: IgnoreRules.none(), stacks: IgnoreRules.none() }, rootPath);
    this.#layers.set(rootPath, layers);
    for (const at of [...ancestorsOf(folder), folder].slice(1)) {
      layers = this.#layers.get(at) ?? this.#add(layers, at);
      this.#layers.set(at, layers);
    }
    return layers;
  }

  #add(
    above: { readonly ignore: IgnoreRules; readonly stacks: IgnoreRules },
    folder: EntryPath,
  ): { readonly ignore: IgnoreRules; readonly stacks: IgnoreRules } {
    let { ignore, stacks } = above;
    for (const text of this.#ignoreFiles.get(folder) ?? [])
      ignore = text === null ? ignore.withUnreadable(folder) : ignore.with(folder, text);
    if (this.#stacks.presets.length > 0)
      stacks = withPresets(stacks, folder, this.#stacks.foundIn(this.#names().get(folder) ?? []));
    return { ignore, stacks };
  }

  #names(): ReadonlyMap<EntryPath, string[]> {
    if (this.#namesByFolder !== undefined) return this.#namesByFolder;
    const names = new Map<EntryPath, string[]>();
    const { entries, observed, passedOver } = this.#content;
    for (const path of [...entries.keys(), ...observed.leftOut.keys(), ...passedOver]) {
      if (path === rootPath) continue;
      const folder = parentPath(path);
      const known = names.get(folder);
      if (known === undefined) names.set(folder, [baseName(path)]);
      else known.push(baseName(path));
    }
    this.#namesByFolder = names;
    return names;
  }
}

/**
 * The presets that were in force in a mount, as they were then.
 * @throws SnapError STORE_DAMAGED when the snapshot names one that it does not hold
 */
export function stacksThen({ policy, stacks = [] }: Manifest, mount: ManifestMount): StackDetector {
  if (!policy.stacks) return noDetector;
  if (mount.stacks === undefined) return usualDetector;
  const presets = mount.stacks.map((name): StackPreset => {
    const known = stacks.find((preset) => preset.name === name);
    if (known !== undefined) return { ...known, description: '', optIn: false };
    const problem = `the preset ${name}`;
    throw new SnapError('STORE_DAMAGED', `A snapshot does not hold ${problem} that was in force.`, { problem });
  });
  return new StackDetector(presets);
}
