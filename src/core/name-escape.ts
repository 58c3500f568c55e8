import { SnapError } from '../errors.js';

/** What decides, beside the name itself, whether git's checks question an entry of a tree. */
export interface NameFacts {
  readonly kind: 'file' | 'symlink' | 'directory';
  readonly size: number;
}

/**
 * The name as it stands in a git tree. Most names are stored as they are. One that git's checks (fsck, a checking
 * server, isomorphic-git) refuse or question has every `.`, `~`, `\` and `%` replaced by `%2e`, `%7e`, `%5c`, `%25`; so
 * has one that already contains such a sequence, which makes plain replacement the exact inverse. A name that is blank
 * (up to a colon) has its first blank replaced by `%20` as well, which nothing but that form means. Names are bytes.
 */
export function escapeName(name: string, facts: NameFacts): string {
  if (!suspicious.test(name)) return name;
  return isQuestioned(needOf(name), facts) ? escapeAll(name) : name;
}

/**
 * The name that was stored.
 * @throws SnapError STORE_DAMAGED when `escapeName` gives this form for no entry of a file system.
 */
export function unescapeName(stored: string): string {
  if (!suspicious.test(stored) && isName(stored)) return stored;
  const unblanked = blankStored.test(stored) ? ` ${stored.slice(3)}` : stored;
  const name = unblanked.replace(codes, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  const need = needOf(name);
  const canonical = name === stored ? need !== 'always' : need !== 'never' && escapeAll(name) === stored;
  if (canonical && isName(name)) return name;
  throw new SnapError('STORE_DAMAGED', `A tree holds the name ${JSON.stringify(stored)}, which is not a stored form.`, {
    problem: 'a name in a tree is not in its stored form',
  });
}

/*
 * git compares names as HFS+ and NTFS would: HFS+ ignores some characters and case, NTFS ignores case, trailing dots and
 * blanks and what follows a colon, knows short names such as `git~1`, and takes a backslash for a separator. Whatever
 * git's is_hfs_dot* and is_ntfs_dot* accept is accepted here, and a little more: a name escaped without need does no harm.
 */

/** Holds for every name that could need escaping, so that the others cost one test. */
const suspicious = /[%~\\]|^ +(?:$|:)|(?:^|[\x8c-\x8f\xaa-\xaf\xbf]) *\.[. ]*(?:[gGmM\xe2\xef:]|$)/;

const codes = /%(?:2e|7e|5c|25)/g;
const code = /%(?:2e|7e|5c|25)/;
const blank = /^ +(?:$|:)/;
const blankStored = /^%20 *(?:$|:)/;
const alwaysEscaped = [code, /\\/, blank, blankStored];
const hfsIgnored = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

// After the name: the end, or what NTFS drops, or a byte that HFS+ may take for the end (malformed UTF-8).
const ending = '(?:[. ]*(?:$|:)|[\\x80-\\xff])';
const dotGit = new RegExp(`^\\.git${ending}`, 'i');
const dotGitShort = new RegExp(`^\\.?git~[1-9]${ending}`, 'i');
const dotGitModules = new RegExp(`^\\.gitmodules${ending}`, 'i');
const dotGitAttributes = new RegExp(`^\\.gitattributes${ending}`, 'i');
const dotGitIgnoreOrMailmap = new RegExp(`^\\.(?:gitignore|mailmap)${ending}`, 'i');
const onlyDots = /^[. ]*\.[. ]*(?:$|:)/;

/** NTFS gives `.gitmodules` the name `gitmod~1`, and later one of a hash: the leading letters of these. */
const shortName = new RegExp(`^([a-z0-9]{0,6})~[1-9][0-9]{0,6}${ending}`, 'i');
const shortPrefixes = ['gitmod', 'gitatt', 'gitign', 'mailma', 'gi7eba', 'gi7d29', 'gi250a', 'maba30'];

/** fsck accepts attribute files whose lines are shorter than this. */
const attributesLineLimit = 2048;

type Need = 'always' | 'unless-small-file' | 'symlink' | 'never';

function needOf(name: string): Need {
  if (alwaysEscaped.some((shape) => shape.test(name))) return 'always';
  const seen = name.replace(hfsIgnored, '');
  if (dotGit.test(seen) || dotGitShort.test(seen) || dotGitModules.test(seen) || onlyDots.test(seen)) return 'always';
  if (isShortName(seen)) return 'always';
  if (dotGitAttributes.test(seen)) return 'unless-small-file';
  return dotGitIgnoreOrMailmap.test(seen) ? 'symlink' : 'never';
}

function isShortName(name: string): boolean {
  const letters = shortName.exec(name)?.[1]?.toLowerCase();
  return letters !== undefined && shortPrefixes.some((prefix) => prefix.startsWith(letters));
}

function isQuestioned(need: Need, facts: NameFacts): boolean {
  switch (need) {
    case 'always':
      return true;
    case 'unless-small-file':
      return facts.kind !== 'file' || facts.size >= attributesLineLimit;
    case 'symlink':
      return facts.kind === 'symlink';
    case 'never':
      return false;
  }
}

function escapeAll(name: string): string {
  const escaped = name.replace(/[.~\\%]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  return blank.test(name) ? `%20${escaped.slice(1)}` : escaped;
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
}
