import { utf8 } from './bytes.js';
import type { EntrySpec, TreeSpec } from './tree-plan.js';
import { directory, file, hardLink, special, symlink } from './tree-plan.js';

export interface WorstName {
  /** Bytes carried as latin1. */
  readonly name: string;
  readonly why: string;
}

/** Names that git refuses in a tree, or that `git fsck --strict` complains about, on one system or another. */
export const forbiddenNames: readonly WorstName[] = [
  { name: '.GIT', why: 'is .git where case does not count' },
  { name: '.Git', why: 'is .git where case does not count' },
  { name: '.gIt', why: 'is .git where case does not count' },
  { name: 'git~1', why: 'is the short name that Windows gives to .git' },
  { name: 'GIT~1', why: 'is that short name in capitals' },
  { name: 'git~2', why: 'is the second short name, and allowed' },
  { name: '.git ', why: 'loses its trailing space on Windows' },
  { name: '.git.', why: 'loses its trailing dot on Windows' },
  { name: '.git . .', why: 'loses all trailing dots and spaces on Windows' },
  { name: '.git...', why: 'loses all trailing dots on Windows' },
  { name: 'git~1.', why: 'is a short name with a trailing dot' },
  { name: utf8('.g\u200cit'), why: 'loses its zero-width non-joiner on HFS+' },
  { name: utf8('\u200d.git'), why: 'begins with a zero-width joiner, which HFS+ drops' },
  { name: utf8('.git\ufeff'), why: 'ends in a byte order mark, which HFS+ drops' },
  { name: utf8('.gi\u202et'), why: 'holds a bidirectional mark, which HFS+ drops' },
  { name: utf8('.G\u206fIt'), why: 'mixes case and a mark that HFS+ drops' },
  { name: 'a\\.git', why: 'is a path into .git on Windows' },
  { name: '.git\\config', why: 'is a path into .git on Windows' },
  { name: '\\', why: 'is a separator on Windows' },
  { name: 'a\\..\\b', why: 'walks upwards on Windows' },
  { name: '.git::$INDEX_ALLOCATION', why: 'is another name of the directory .git on NTFS' },
  { name: '.git:x', why: 'is a stream of .git on NTFS' },
  { name: '%2egit', why: 'looks as if it had been escaped already' },
  { name: '%2Egit', why: 'looks as if it had been escaped already, in capitals' },
  { name: '%25', why: 'is an escaped percent sign' },
  { name: '%', why: 'is an escape that does not end' },
  { name: '%2', why: 'is an escape that does not end' },
  { name: '%00', why: 'would decode to a NUL' },
  { name: '%2f', why: 'would decode to a slash' },
  { name: '.gitx', why: 'only begins like .git, and is allowed' },
  { name: '...', why: 'is a name like others, though made of dots' },
  { name: '.. ', why: 'is .. on Windows' },
];

/** Names that git treats as its own files: it looks at their content, or refuses them as links. */
export const gitOwnedNames: readonly WorstName[] = [
  { name: '.gitmodules', why: 'is parsed by fsck' },
  { name: '.GITMODULES', why: 'is .gitmodules where case does not count' },
  { name: 'gitmod~1', why: 'is the short name of .gitmodules' },
  { name: 'GI7EBA~1', why: 'is a hashed short name of .gitmodules' },
  { name: utf8('.gitm\u200codules'), why: 'is .gitmodules on HFS+' },
  { name: '.gitattributes', why: 'is read by fsck, with limits' },
  { name: '.GitAttributes', why: 'is .gitattributes where case does not count' },
  { name: 'gitatt~1', why: 'is the short name of .gitattributes' },
  { name: '.mailmap', why: 'may not be a link' },
  { name: '.MailMap', why: 'is .mailmap where case does not count' },
  { name: 'mailma~1', why: 'is the short name of .mailmap' },
  { name: 'gitign~1', why: 'is the short name of .gitignore' },
];

/** Names that trip programs which take them for text, options, patterns, paths or refs. */
export const awkwardNames: readonly WorstName[] = [
  { name: '\xff', why: 'is not UTF-8' },
  { name: '\xff\xfe', why: 'is not UTF-8, but a byte order mark of UTF-16' },
  { name: '\xc3', why: 'is UTF-8 cut short' },
  { name: '\xc3(', why: 'is UTF-8 with a wrong second byte' },
  { name: '\xc0\xaf', why: 'is an overlong slash' },
  { name: '\xc0\x80', why: 'is an overlong NUL' },
  { name: '\xed\xa0\x80', why: 'is a lone surrogate' },
  { name: '\xf5\x80\x80\x80', why: 'lies beyond Unicode' },
  { name: 'caf\xe9', why: 'is Latin-1' },
  { name: utf8('caf\u00e9'), why: 'is composed (NFC)' },
  { name: utf8('cafe\u0301'), why: 'is the same, decomposed (NFD)' },
  { name: 'Readme', why: 'differs from README in case only' },
  { name: 'README', why: 'differs from Readme in case only' },
  { name: utf8('\ufffd'), why: 'is what a careless reader makes of any bad byte' },
  { name: utf8('\ufeffbom'), why: 'begins with a byte order mark' },
  { name: utf8('\u202egnp.exe'), why: 'is shown backwards by terminals' },
  { name: utf8('\u2028'), why: 'is a line separator' },
  { name: utf8('\u{1f9e8}'), why: 'lies outside the basic plane' },
  { name: '\n', why: 'is a newline' },
  { name: 'a\nb', why: 'holds a newline' },
  { name: 'a\r\nb', why: 'holds a line ending of Windows' },
  { name: 'end\n', why: 'ends in a newline' },
  { name: '\r', why: 'is a carriage return' },
  { name: '\t', why: 'is a tab' },
  { name: '\x1b[2J\x1b]0;x\x07', why: 'clears a terminal and sets its title' },
  { name: '\x9b31m', why: 'is an eight-bit control sequence' },
  { name: '\x01\x7f', why: 'holds control characters' },
  { name: ' ', why: 'is a space' },
  { name: ' lead', why: 'begins with a space' },
  { name: 'trail ', why: 'ends in a space' },
  { name: '-', why: 'means standard input to many programs' },
  { name: '--', why: 'ends the options' },
  { name: '-rf', why: 'looks like options' },
  { name: '--help', why: 'looks like an option' },
  { name: '--upload-pack=x', why: 'looks like an option that runs a program' },
  { name: '@', why: 'means HEAD to git' },
  { name: '@{0}', why: 'looks like a reflog entry' },
  { name: ':(glob)x', why: 'is pathspec magic' },
  { name: ':!x', why: 'is pathspec magic' },
  { name: '*', why: 'is a pattern' },
  { name: '[a-z]?', why: 'is a pattern' },
  { name: '!not', why: 'negates in ignore files' },
  { name: '#note', why: 'is a comment in ignore files' },
  { name: '"quoted"', why: 'holds quotes' },
  { name: "it's", why: 'holds a quote' },
  { name: '$(touch x)`touch y`;&|', why: 'is run by a shell that is given it' },
  { name: 'a:b', why: 'looks like mount:path' },
  { name: 'latest', why: 'looks like a snapshot' },
  { name: '1', why: 'looks like a sequence number' },
  { name: '__proto__', why: 'is special as a key of objects' },
  { name: 'constructor', why: 'is special as a key of objects' },
  { name: 'toString', why: 'is special as a key of objects' },
  { name: 'meta', why: 'is a folder of the snapshot itself' },
  { name: 'mounts', why: 'is a folder of the snapshot itself' },
  { name: 'x.lock', why: 'looks like a lock of git' },
  { name: 'tmp_obj_x', why: 'looks like a temporary object of git' },
  { name: 'HEAD', why: 'is a file of repositories' },
  { name: 'CON', why: 'is a device on Windows' },
  { name: 'nul.txt', why: 'is a device on Windows' },
  { name: 'a.', why: 'sorts before a-, as file and as directory differently' },
  { name: 'a', why: 'sorts around a. and a0, depending on its type' },
  { name: 'a-', why: 'sorts between a and a/ in git trees' },
  { name: 'a0', why: 'sorts after a/ in git trees' },
  { name: 'n'.repeat(255), why: 'is as long as a name may be' },
  { name: '\xfe'.repeat(255), why: 'is as long as a name may be, in bytes that are not UTF-8' },
  { name: '%'.repeat(255), why: 'grows when escaped' },
  { name: `.git${' '.repeat(251)}`, why: 'is forbidden and has no room to grow' },
  { name: utf8('\u00e9'.repeat(127)), why: 'is near the limit in two-byte characters' },
];

/** All names that this project has learnt to fear. Every one is legal on a Linux file system. */
export const worstNames: readonly WorstName[] = [...forbiddenNames, ...gitOwnedNames, ...awkwardNames];

/** A directory chain with a file at its end whose path is longer than the 4096 bytes that one call accepts. */
export function deepEntries(top = 'deep', levels = 20, name = 'd'.repeat(255)): EntrySpec[] {
  const path = [top, ...Array.from({ length: levels }, () => name)].join('/');
  return [directory(path, 0o700), file(`${path}/bottom`, 'far down\n', 0o640), symlink(`${path}/up`, '../bottom')];
}

/** Links of each kind. */
export function linkEntries(top = 'links'): EntrySpec[] {
  return [
    file(`${top}/real`, 'real\n'),
    symlink(`${top}/to-file`, 'real'),
    symlink(`${top}/to-self`, '.'),
    symlink(`${top}/to-parent`, '..'),
    symlink(`${top}/dangling`, 'nowhere/at/all'),
    symlink(`${top}/absolute`, '/etc/hostname'),
    symlink(`${top}/outside`, '../../../outside'),
    symlink(`${top}/loop-a`, 'loop-b'),
    symlink(`${top}/loop-b`, 'loop-a'),
    symlink(`${top}/not-utf8`, '\xff\xfe\x80'),
    symlink(`${top}/newline`, 'a\nb\n'),
    symlink(`${top}/spaces`, '  '),
    symlink(`${top}/long`, `${'l'.repeat(200)}/`.repeat(20)),
    symlink(`${top}/dot-git`, '.git'),
    hardLink(`${top}/link-of-link`, `${top}/dangling`),
  ];
}

/** Modes of every kind. Those that shut out an ordinary user come only with `privileged`. */
export function modeEntries(top = 'modes', privileged = process.getuid?.() === 0): EntrySpec[] {
  const open = [0o400, 0o444, 0o500, 0o555, 0o600, 0o640, 0o644, 0o664, 0o666, 0o700, 0o711, 0o750, 0o755, 0o777];
  const odd = [0o1644, 0o1777, 0o2644, 0o2755, 0o2775, 0o4600, 0o4755, 0o6755, 0o7777];
  const shut = privileged ? [0o000, 0o001, 0o044, 0o200, 0o222, 0o311, 0o7000] : [];
  return [...open, ...odd, ...shut].flatMap((mode) => {
    const name = mode.toString(8).padStart(4, '0');
    const inner = mode & 0o100 || privileged ? [file(`${top}/dir-${name}/inside`, name, 0o600)] : [];
    return [file(`${top}/file-${name}`, name, mode), directory(`${top}/dir-${name}`, mode), ...inner];
  });
}

/** What git's own files must not be: links, directories, and content that fsck rejects. */
export function gitOwnedEntries(top = 'git-owned'): EntrySpec[] {
  return [
    ...gitOwnedNames.flatMap(({ name }) => [
      symlink(`${top}/as-link/${name}`, '../elsewhere'),
      file(`${top}/as-directory/${name}/inside`, 'x'),
      file(
        `${top}/bad/${name}`,
        '[submodule "../../x"]\n\tpath = -x\n\turl = --upload-pack=touch\n\tupdate = !touch x\n',
      ),
      file(`${top}/binary/${name}`, '\0\xff[submodule\n'),
    ]),
    file(`${top}/long-line/.gitattributes`, `* ${'x'.repeat(4000)}\n`),
    file(`${top}/huge/.gitmodules`, { unit: '[submodule "a"]\n', size: 300_000 }),
    file(`${top}/open/.gitmodules`, '[submodule "never closed'),
  ];
}

/** Everything at once: all worst names as files, directories and links, with links, modes, depth and specials. */
export function worstTree(privileged = process.getuid?.() === 0): TreeSpec {
  return [
    ...[...forbiddenNames, ...awkwardNames].flatMap(({ name, why }) => [
      file(`as-file/${name}`, why),
      file(`as-directory/${name}/${name}`, why),
      symlink(`as-link/${name}`, name),
      directory(`as-empty/${name}`),
    ]),
    file('as-file/.git', 'gitdir: /nowhere\n'),
    symlink('as-link/.git', 'nowhere'),
    ...gitOwnedEntries(),
    ...linkEntries(),
    ...modeEntries('modes', privileged),
    ...deepEntries(),
    ...deepEntries('deep-bytes', 17, '\xfe'.repeat(255)),
    file('same/one', 'shared\n', 0o604),
    hardLink('same/two', 'same/one'),
    hardLink('same/\xff/three', 'same/one'),
    file('sparse', { size: 5_000_000, pieces: [{ at: 4_000_000, bytes: 'x' }] }),
    file('empty'),
    file('crlf', 'a\r\nb\r\n'),
    special('special/pipe', 'fifo', 0o622),
    special('special/socket\xff', 'socket', 0o755),
    file('read-only/sub/file', 'x', 0o444),
    directory('read-only/sub', 0o555),
    directory('read-only', 0o555),
  ];
}
