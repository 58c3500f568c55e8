import fc from 'fast-check';
import { joinPath, utf8 } from './bytes.js';
import type { EntrySpec, TreeSpec } from './tree-plan.js';
import { worstNames } from './worst-tree.js';

export interface ArbitraryTreeOptions {
  /** How many entries are drawn; default 30. Chains of deep directories count as one. */
  readonly maxEntries?: number;
  /** FIFOs and sockets too; default false. */
  readonly withSpecial?: boolean;
  /** Modes that shut out an ordinary user, and foreign owners; default: when this is root. */
  readonly privileged?: boolean;
  /** Directories named `.git`, which no snapshot stores; default false. `.git` files are always possible. */
  readonly withGitDirs?: boolean;
  /** Files named `.gitignore` and names of secrets, which decide or hinder what is stored; default false. */
  readonly withRules?: boolean;
}

/**
 * Trees as plans for `buildTree`. They shrink towards few entries, short plain names, empty files and usual modes. A
 * tree holds what it says: parents are always directories, hard links point at files of the same tree.
 */
export function arbitraryTree(options: ArbitraryTreeOptions = {}): fc.Arbitrary<TreeSpec> {
  const maxLength = options.maxEntries ?? 30;
  return fc.array(arbitraryDraw(options), { maxLength, size: 'max' }).map((draws) => assemble(draws, options));
}

/** Names of any bytes but NUL and '/', 1 to 255 long, carried as latin1. */
export function arbitraryName(options: ArbitraryTreeOptions = {}): fc.Arbitrary<string> {
  const rules = options.withRules === true ? [{ weight: 2, arbitrary: fc.constantFrom(...ruleNames) }] : [];
  return fc
    .oneof(
      towardsFirst,
      { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'A', 'a.b', 'ab') },
      { weight: 3, arbitrary: fc.constantFrom(...worstNames.map(({ name }) => name), '.git') },
      { weight: 3, arbitrary: arbitraryBytes(1, 12) },
      { weight: 1, arbitrary: arbitraryBytes(240, 255) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map(utf8) },
      ...rules,
    )
    .map((name) => name.replace(/[\0/]/g, '_').slice(0, 255))
    .filter((name) => !['', '.', '..'].includes(name) && (options.withRules === true || !isRuleName(name)));
}

/** Small contents, with a bias to those that are stored wrongly when somebody is clever. */
export function arbitraryContent(): fc.Arbitrary<string> {
  return fc.oneof(
    towardsFirst,
    { weight: 4, arbitrary: fc.constantFrom('', 'a', 'a\n', 'b', 'the same\n') },
    { weight: 2, arbitrary: fc.constantFrom(...trickyContents) },
    { weight: 2, arbitrary: arbitraryBytes(0, 64) },
    { weight: 1, arbitrary: fc.nat({ max: 70_000 }).map((length) => 'x'.repeat(length)) },
  );
}

/** Content that filters, line endings, keywords, encodings or git's own formats would change or misread. */
export const trickyContents: readonly string[] = [
  'a\r\nb\r\n',
  'a\r\nb\n\rc\r',
  '\r\n',
  'no newline at the end',
  '\0',
  '\0\xff\xfe\x80binary\0',
  '\xff\xfea\0\n\0',
  utf8('\ufefftext\n'),
  '$Id$\n$Id: 0000000000000000000000000000000000000000 $\n',
  'blob 3\0abc',
  'tree 0\0',
  'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a@a> 0 +0000\ncommitter a <a@a> 0 +0000\n\nm\n',
  '100644 a\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14',
  'PACK\0\0\0\x02\0\0\0\0',
  'x\x9c+(\xc9\xc8,V\0\xa2D\x85\x92\xd4\xe2\x12.\0',
  'version https://git-lfs.github.com/spec/v1\noid sha256:' + '0'.repeat(64) + '\nsize 12345\n',
  'gitdir: /nowhere\n',
  'ref: refs/heads/main\n',
  '* text=auto eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs\n* ident\n',
  '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n',
];

// A failure may shrink out of the alternative it was found in, to the plainest one.
const towardsFirst = { withCrossShrink: true };

interface Draw {
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'deep' | 'fifo' | 'socket';
  readonly name: string;
  readonly parent: number;
  readonly mode: number;
  readonly content: string;
  readonly target: string;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

function arbitraryDraw(options: ArbitraryTreeOptions): fc.Arbitrary<Draw> {
  const kinds: Draw['kind'][] = [...repeated('file', 6), ...repeated('directory', 4), 'symlink', 'symlink', 'hardlink'];
  const rare: Draw['kind'][] = options.withSpecial === true ? ['deep', 'fifo', 'socket'] : ['deep'];
  return fc.record({
    kind: fc.oneof(
      towardsFirst,
      { weight: 30, arbitrary: fc.constantFrom(...kinds) },
      { weight: 1, arbitrary: fc.constantFrom(...rare) },
    ),
    name: arbitraryName(options),
    parent: fc.nat({ max: 30 }),
    mode: fc.oneof(towardsFirst, { weight: 3, arbitrary: fc.constant(-1) }, { weight: 2, arbitrary: arbitraryMode() }),
    content: arbitraryContent(),
    target: arbitraryTarget(),
    owner: isPrivileged(options) ? arbitraryOwner() : fc.constant(undefined),
  });
}

function repeated<const T>(value: T, times: number): T[] {
  return Array.from({ length: times }, () => value);
}

function arbitraryMode(): fc.Arbitrary<number> {
  const usual = fc.constantFrom(0o644, 0o755, 0o600, 0o700, 0o444, 0o555, 0o664, 0o775, 0o777, 0o400);
  return fc.oneof(
    towardsFirst,
    usual,
    fc.constantFrom(0o4755, 0o2755, 0o1777, 0o7777, 0, 0o111),
    fc.nat({ max: 0o7777 }),
  );
}

function arbitraryTarget(): fc.Arbitrary<string> {
  const fixed = fc.constantFrom('a', '.', '..', '../..', '/', '/etc/passwd', 'nowhere', '.git', 'a/../b', '\xff\xfe');
  return fc.oneof(towardsFirst, fixed, arbitraryBytes(1, 40)).map((target) => target.replace(/\0/g, '_'));
}

function arbitraryOwner(): fc.Arbitrary<Draw['owner']> {
  const foreign = fc.record({ uid: fc.constantFrom(0, 1234, 65534), gid: fc.constantFrom(0, 1234, 65534) });
  return fc.oneof(towardsFirst, { weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: foreign });
}

function arbitraryBytes(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.nat({ max: 255 }), { minLength, maxLength }).map((bytes) => String.fromCharCode(...bytes));
}

const ruleNames = ['.gitignore', '.env', '.env.local', 'key.pem', 'id_rsa', '.ssh', '.npmrc', '.aws', 'x.key'];

// A rough net: what it catches without need is missed by nobody.
function isRuleName(name: string): boolean {
  return (
    name === '.gitignore' ||
    /^\.(env|netrc|npmrc|pypirc|git-credentials|ssh|aws|gnupg|kube|docker|config)/.test(name) ||
    /\.(pem|key)$|^id_(rsa|ed25519)|^credentials\.json$/.test(name)
  );
}

function isPrivileged(options: ArbitraryTreeOptions): boolean {
  return options.privileged ?? process.getuid?.() === 0;
}

interface Assembly {
  readonly entries: EntrySpec[];
  readonly taken: Set<string>;
  readonly directories: string[];
  readonly linkable: string[];
}

function assemble(draws: readonly Draw[], options: ArbitraryTreeOptions): TreeSpec {
  const assembly: Assembly = { entries: [], taken: new Set(), directories: [''], linkable: [] };
  for (const draw of draws) {
    const path = joinPath(assembly.directories[draw.parent % assembly.directories.length]!, draw.name);
    if (assembly.taken.has(path)) continue;
    assembly.taken.add(path);
    place(assembly, path, draw, options);
  }
  return assembly.entries;
}

function place(assembly: Assembly, path: string, draw: Draw, options: ArbitraryTreeOptions): void {
  const kind = soundKind(assembly, draw, options);
  const owner = draw.owner === undefined ? {} : { owner: draw.owner };
  if (kind === 'directory' || kind === 'deep') {
    const end = kind === 'deep' ? path + `/${'e'.repeat(255)}`.repeat(17) : path;
    assembly.directories.push(end);
    assembly.entries.push({ path: end, type: 'directory', mode: soundMode(draw, 0o755, options), ...owner });
  } else if (kind === 'hardlink') {
    const to = assembly.linkable[draw.parent % assembly.linkable.length]!;
    assembly.entries.push({ path, type: 'hardlink', to });
  } else if (kind === 'symlink') {
    assembly.linkable.push(path);
    assembly.entries.push({ path, type: 'symlink', target: draw.target, ...owner });
  } else if (kind === 'file') {
    assembly.linkable.push(path);
    const mode = soundMode(draw, 0o644, options);
    assembly.entries.push({ path, type: 'file', content: draw.content, mode, ...owner });
  } else {
    assembly.entries.push({ path, type: kind, mode: soundMode(draw, 0o644, options), ...owner });
  }
}

function soundKind(assembly: Assembly, draw: Draw, options: ArbitraryTreeOptions): Draw['kind'] {
  if (draw.kind === 'hardlink' && assembly.linkable.length === 0) return 'file';
  const isDirectory = draw.kind === 'directory' || draw.kind === 'deep';
  return isDirectory && draw.name === '.git' && options.withGitDirs !== true ? 'file' : draw.kind;
}

// An ordinary user must be able to read what they are to save.
function soundMode(draw: Draw, usual: number, options: ArbitraryTreeOptions): number {
  const mode = draw.mode === -1 ? usual : draw.mode;
  if (isPrivileged(options)) return mode;
  return mode | (usual === 0o755 ? 0o500 : 0o400);
}
