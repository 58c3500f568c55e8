import type { SecretScanner } from '../../../core/content-secrets.js';
import type { LeftOutReason, ObservedOnly } from '../../../core/entry.js';
import { type EntryPath, baseName, parentPath, rootPath, textOfBytes } from '../../../core/entry-path.js';
import type { ObjectId } from '../../../core/ids.js';
import { escapeName } from '../../../core/name-escape.js';
import type { ObjectWriter, TreeEntry } from '../../../core/ports.js';
import type { CapturedTree } from '../capture.js';
import { type Captured, fileMode } from '../level.js';
import type { HeldContent } from './held-content.js';

/**
 * What was walked, written, without the files in which a secret was found or that could not be looked at. Those are left
 * out and named; what is in them is written nowhere.
 */
export async function scannedTree(
  walked: CapturedTree,
  held: HeldContent,
  {
    scanner,
    writer,
  }: { readonly scanner: SecretScanner; readonly writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree'> },
): Promise<CapturedTree> {
  const verdicts = new Map<ObjectId, LeftOutReason | null>();
  const entries = new Map<EntryPath, Captured>();
  const leftOut: ObservedOnly[] = [...walked.leftOut];
  for (const entry of walked.entries.values()) {
    const reason = entry.kind === 'directory' ? null : await verdictOn(entry, held, scanner, verdicts);
    if (reason === null) entries.set(entry.path, entry);
    else leftOut.push({ path: entry.path, reason, directory: false });
  }
  const written = new TreeOf(entries, held, writer);
  const tree = written.write(rootPath);
  return { ...walked, tree, entries, leftOut, bare: written.bare, stats: { ...walked.stats, ...written.tally } };
}

/** Hard links have one content, and so one verdict: a group is stored as a whole or not at all. */
async function verdictOn(
  { oid, path }: Exclude<Captured, { readonly kind: 'directory' }>,
  held: HeldContent,
  scanner: SecretScanner,
  verdicts: Map<ObjectId, LeftOutReason | null>,
): Promise<LeftOutReason | null> {
  const known = verdicts.get(oid);
  if (known !== undefined) return known;
  const verdict = await lookAtContent(path, held.get(oid)?.toString('latin1'), scanner);
  verdicts.set(oid, verdict);
  return verdict;
}

/** Why a content is left out: `unsupported` for what no scanner can look at. @param bytes undefined: it cannot be had */
export async function lookAtContent(
  path: EntryPath,
  bytes: string | undefined,
  scanner: SecretScanner,
): Promise<LeftOutReason | null> {
  const text = bytes === undefined || bytes.includes('\0') ? undefined : textOfBytes(bytes);
  if (text === undefined) return 'unsupported';
  try {
    return (await scanner.holdsSecret(path, text)) ? 'secret' : null;
  } catch {
    // Whatever it was that failed: unscanned content is never stored.
    return 'unsupported';
  }
}

class TreeOf {
  readonly bare: EntryPath[] = [];
  readonly tally = { filesStored: 0, bytesStored: 0 };
  readonly #children = new Map<EntryPath, Captured[]>();
  readonly #held: HeldContent;
  readonly #writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree'>;

  constructor(
    entries: ReadonlyMap<EntryPath, Captured>,
    held: HeldContent,
    writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree'>,
  ) {
    this.#held = held;
    this.#writer = writer;
    for (const entry of entries.values()) {
      if (entry.path === rootPath) continue;
      const parent = parentPath(entry.path);
      this.#children.set(parent, [...(this.#children.get(parent) ?? []), entry]);
    }
  }

  /** Undefined for a directory in which nothing is stored, which no tree shows. */
  write(directory: EntryPath): ObjectId | undefined {
    const tree = (this.#children.get(directory) ?? []).flatMap((entry) => this.#entry(entry));
    if (tree.length > 0) return this.#writer.writeTree(tree);
    if (directory !== rootPath) this.bare.push(directory);
    return undefined;
  }

  #entry(entry: Captured): TreeEntry[] {
    const name = baseName(entry.path);
    if (entry.kind === 'directory') {
      const oid = this.write(entry.path);
      return oid === undefined ? [] : [{ mode: 0o40000, name: escapeName(name, { kind: 'directory', size: 0 }), oid }];
    }
    const content = this.#held.get(entry.oid);
    if (content === undefined) return [];
    this.tally.filesStored += 1;
    if (entry.kind === 'file') this.tally.bytesStored += entry.size;
    const mode = entry.kind === 'symlink' ? 0o120000 : fileMode(entry.mode);
    const { kind, size } = entry;
    return [{ mode, name: escapeName(name, { kind, size }), oid: this.#writer.writeBlob(content) }];
  }
}
