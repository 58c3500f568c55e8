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
import type { Policy } from '../../core/policy.js';
import type { ObjectReader } from '../../core/ports.js';
import { stackExcludes } from '../../core/stacks.js';
import { ignoreFileAtMost } from '../capture/mount-rules.js';
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
  readonly #policy: Policy;
  readonly #content: MountContent;
  /** Ignore files by their folder; null where they could not be read. */
  readonly #ignoreFiles: ReadonlyMap<EntryPath, readonly (string | null)[]>;
  readonly #layers = new Map<EntryPath, { readonly ignore: IgnoreRules; readonly stacks: IgnoreRules }>();
  #namesByFolder: Map<EntryPath, string[]> | undefined;

  private constructor(
    content: MountContent,
    policy: Policy,
    ignoreFiles: ReadonlyMap<EntryPath, readonly (string | null)[]>,
  ) {
    this.#content = content;
    this.#policy = policy;
    this.#ignoreFiles = ignoreFiles;
    const rootName = baseName(pathFromJson(content.manifest.path) as EntryPath);
    this.#base = { policy, rootName, includes: patternSet(policy.include), excludes: patternSet(policy.exclude) };
  }

  static async read(reader: ObjectReader, content: MountContent, policy: Policy): Promise<RulesThen> {
    const files = new Map<EntryPath, (string | null)[]>();
    const add = (folder: EntryPath, text: string | null): void => {
      files.set(folder, [...(files.get(folder) ?? []), text]);
    };
    if (policy.gitignore) {
      for (const { path, content: text } of content.manifest.exclude_files)
        add(parseEntryPath(pathFromJson(path)), pathFromJson(text));
      for (const path of content.manifest.rules_unknown) add(parseEntryPath(pathFromJson(path)), null);
      for (const entry of content.entries.values()) {
        if (entry.kind !== 'file' || baseName(entry.path) !== '.gitignore') continue;
        add(parentPath(entry.path), await readRules(reader, entry));
      }
    }
    return new RulesThen(content, policy, files);
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
    const patterns = this.#policy.stacks
      ? stackExcludes(this.#names().get(folder) ?? []).flatMap((stack) => stack.patterns)
      : [];
    if (patterns.length > 0) stacks = stacks.with(folder, patterns.join('\n'));
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
