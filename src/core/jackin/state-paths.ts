import type { EntryStat, LeftOutReason } from '../entry.js';
import { type EntryPath, ancestorsOf, baseName, isWithin } from '../entry-path.js';
import { isSecret } from '../secrets.js';

/*
 * What of the agents' homes below `data/<container>/home` a snapshot of state may hold: these paths, and nothing else.
 * Transcripts of sessions (.claude/projects, .codex/sessions, .local/share/amp/threads …), histories, caches, logs and
 * logins are not among them, and must not be: what the agents keep beside their settings is theirs to name anew.
 * Paths are relative to the home; one that ends in "/" stands for all that is below it.
 */
export const stateAllowed: Readonly<Record<string, readonly string[]>> = {
  // .claude.json is none of them: it holds the login and the history beside some settings.
  claude: [
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.claude/CLAUDE.md',
    '.claude/keybindings.json',
    '.claude/agents/',
    '.claude/commands/',
    '.claude/hooks/',
    '.claude/output-styles/',
    '.claude/plugins/',
    '.claude/rules/',
    '.claude/skills/',
  ],
  // auth.json is the login, sessions/ and history.jsonl are transcripts.
  codex: [
    '.codex/config.toml',
    '.codex/AGENTS.md',
    '.codex/hooks.json',
    '.codex/prompts/',
    '.codex/rules/',
    '.codex/skills/',
  ],
  // What is in .local/share/amp is the login and the threads.
  amp: [
    '.config/amp/settings.json',
    '.config/amp/AGENTS.md',
    '.config/amp/commands/',
    '.config/amp/plugins/',
    '.config/amp/skills/',
    '.config/amp/toolboxes/',
  ],
  // config.toml holds the key.
  'kimi-code': [
    '.kimi-code/AGENTS.md',
    '.kimi-code/mcp.json',
    '.kimi-code/agents/',
    '.kimi-code/hooks/',
    '.kimi-code/plugins/',
    '.kimi-code/skills/',
  ],
  // What is in .local/share/opencode is the login and the sessions.
  opencode: [
    '.config/opencode/opencode.json',
    '.config/opencode/opencode.jsonc',
    '.config/opencode/AGENTS.md',
    ...['agent/', 'agents/', 'command/', 'commands/', 'mode/', 'modes/'].map((name) => `.config/opencode/${name}`),
    ...['plugin/', 'plugins/', 'skills/', 'themes/', 'tool/', 'tools/'].map((name) => `.config/opencode/${name}`),
  ],
  // user-settings.json may hold the key.
  grok: [
    '.grok/config.toml',
    '.grok/AGENTS.md',
    '.grok/GROK.md',
    '.grok/agents/',
    '.grok/commands/',
    '.grok/hooks/',
    '.grok/plugins/',
    '.grok/skills/',
  ],
};

/** Names of files that hold logins: never stored, wherever they lie, however jackin hands logins over. Lower case. */
const deniedNames: ReadonlySet<string> = new Set([
  ...['account.json', 'credentials.json', '.credentials.json', 'auth.json', 'secrets.json', 'device_id', 'hosts.yml'],
  ...['.claude.json', '.claude.json.backup', 'user-settings.json', 'oauth_creds.json', 'token.json', 'tokens.json'],
]);

/** Directories of logins. */
const deniedDirectories: ReadonlySet<string> = new Set(['credentials', '.credentials', 'secrets']);

const deniedPaths: ReadonlySet<string> = new Set(['.kimi-code/config.toml']);

/** Files of state are settings and texts: what is larger is none, and would be long to scan. Bytes. */
export const stateFileAtMost: number = 1024 * 1024;
/** All that a snapshot of state holds. Bytes. */
export const stateAtMost: number = 64 * 1024 * 1024;

const allowed = Object.values(stateAllowed).flat();
const allowedFiles = new Set(allowed.filter((path) => !path.endsWith('/')));
const allowedFolders = allowed.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1) as EntryPath);

/** Why a path of an agent's home is left out of a snapshot of state; null for one that may be stored, or leads to one. */
export function stateLeftOut(path: EntryPath, { kind, size }: Pick<EntryStat, 'kind' | 'size'>): LeftOutReason | null {
  if (kind === 'special') return 'special';
  if (isCredential(path, kind)) return 'secret';
  if (isAllowed(path, kind)) return kind === 'file' && size > stateFileAtMost ? 'too_large' : null;
  return kind === 'directory' && leadsToAllowed(path) ? null : 'excluded';
}

/** True for what holds a login by its name or place, whatever is in it. */
export function isCredential(path: EntryPath, kind: EntryStat['kind']): boolean {
  const name = baseName(path).toLowerCase();
  if (deniedNames.has(name) || deniedPaths.has(path) || isSecret(path, kind)) return true;
  return kind === 'directory' && deniedDirectories.has(name);
}

/** A folder of the list is only ever a folder: a file or link in its place is none of it. */
function isAllowed(path: EntryPath, kind: EntryStat['kind']): boolean {
  if (kind === 'file' && allowedFiles.has(path)) return true;
  return allowedFolders.some((folder) => isWithin(path, folder) && (path !== folder || kind === 'directory'));
}

function leadsToAllowed(path: EntryPath): boolean {
  return leading.has(path);
}

const leading: ReadonlySet<string> = new Set(
  allowed.flatMap((path) => [...ancestorsOf(path.replace(/\/$/, '') as EntryPath)]),
);

/** Whose state a path of the list is, and what kind of it; undefined for one that is not on the list. */
export function stateGroupOf(path: EntryPath): { readonly agent: string; readonly kind: string } | undefined {
  for (const [agent, paths] of Object.entries(stateAllowed)) {
    const listed = paths.find((one) => (one.endsWith('/') ? path.startsWith(one) : path === one));
    if (listed !== undefined) return { agent, kind: kindOf(listed) };
  }
  return undefined;
}

function kindOf(listed: string): string {
  if (listed.endsWith('/')) return baseName(listed.slice(0, -1) as EntryPath);
  return listed.endsWith('.md') ? 'instructions' : 'settings';
}
