/** What names a program, by key. */
export type Settings = Readonly<Record<string, string>>;

export const commit = 'git commit --quiet --allow-empty -m x';
export const ask = "printf 'protocol=https\\nhost=x.invalid\\n\\n' | git credential fill";
export const attributes = '* filter=evil diff=evil merge=evil\n';

/** Settings by their name: `TRAP` is the program, `HOME` and `MOUNT` are folders. */
export const settings: Readonly<Record<string, { readonly keys: Settings; readonly control?: string }>> = {
  fsmonitor: { keys: { 'core.fsmonitor': 'TRAP' }, control: 'git status' },
  'hooks path': { keys: { 'core.hooksPath': 'MOUNT/evil/hooks' }, control: commit },
  pager: { keys: { 'core.pager': 'TRAP', 'pager.log': 'TRAP', 'pager.diff': 'TRAP', 'pager.show': 'TRAP' } },
  editor: { keys: { 'core.editor': 'TRAP', 'sequence.editor': 'TRAP' }, control: 'git commit --allow-empty' },
  ssh: { keys: { 'core.sshCommand': 'TRAP' }, control: 'git ls-remote ssh://x.invalid/y' },
  'git proxy': { keys: { 'core.gitProxy': 'TRAP' }, control: 'git ls-remote git://x.invalid/y' },
  'ask for passwords': { keys: { 'core.askPass': 'TRAP' }, control: ask },
  credentials: { keys: { 'credential.helper': 'TRAP' }, control: ask },
  signatures: { keys: { 'commit.gpgSign': 'true', 'gpg.program': 'TRAP' }, control: commit },
  'signatures by ssh': {
    keys: {
      'commit.gpgSign': 'true',
      'gpg.format': 'ssh',
      'gpg.ssh.program': 'TRAP',
      'user.signingKey': 'key::ssh-ed25519 x',
    },
    control: commit,
  },
  'shown signatures': { keys: { 'log.showSignature': 'true', 'gpg.program': 'TRAP' } },
  'external diff': { keys: { 'diff.external': 'TRAP' }, control: 'git diff' },
  textconv: { keys: { 'diff.evil.textconv': 'TRAP' }, control: 'git diff' },
  'diff of a kind': { keys: { 'diff.evil.command': 'TRAP' }, control: 'git diff' },
  'clean filter': { keys: { 'filter.evil.clean': 'TRAP', 'filter.evil.required': 'true' }, control: 'git add -A' },
  'smudge filter': { keys: { 'filter.evil.smudge': 'TRAP' }, control: 'git checkout --quiet -f HEAD -- .' },
  'filter process': { keys: { 'filter.evil.process': 'TRAP' }, control: 'git add -A' },
  'merge of a kind': { keys: { 'merge.evil.driver': 'TRAP' } },
  'hook of gc': { keys: { 'gc.recentObjectsHook': 'TRAP' } },
  'hook of packing': { keys: { 'uploadpack.packObjectsHook': 'TRAP' } },
  'refs of alternates': { keys: { 'core.alternateRefsCommand': 'TRAP' } },
  'filter of diffs': { keys: { 'interactive.diffFilter': 'TRAP' } },
  aliases: {
    keys: Object.fromEntries(
      ['st', 'log', 'diff', 'fsck', 'gc', 'repack', 'rev-list'].map((name) => [`alias.${name}`, '!TRAP']),
    ),
    control: 'git st',
  },
  include: { keys: { 'include.path': 'MOUNT/evil/included' }, control: 'git status' },
  'conditional include': { keys: { 'includeIf.gitdir:/.path': 'MOUNT/evil/included' }, control: 'git status' },
  'rewritten addresses': {
    keys: { 'url.ext::TRAP %S .insteadOf': 'x:', 'protocol.ext.allow': 'always' },
    control: 'git ls-remote x:y',
  },
  'difference tool': { keys: { 'diff.tool': 'evil', 'difftool.evil.cmd': 'TRAP', 'merge.tool': 'evil' } },
};
