import { SnapError } from '../../errors.js';

/*
 * Where a remote repository is, as git takes it: a URL, `host:path` for ssh, or a path. Nothing here names a program, and
 * what may be a password is kept apart, so that it is never shown.
 */

export type RemoteProtocol = 'file' | 'https' | 'http' | 'ssh' | 'git';

export interface RemoteAddress {
  readonly protocol: RemoteProtocol;
  /** As git is to be given it; with `file`, a path as it was typed. */
  readonly location: string;
  /** The same for people and documents, without passwords. */
  readonly shown: string;
  /** Texts that are not to be shown, the longest first. */
  readonly secrets: readonly string[];
}

const protocols: ReadonlySet<string> = new Set<RemoteProtocol>(['file', 'https', 'http', 'ssh', 'git']);
export const mask = '***';

/** @throws SnapError REMOTE_REFUSED for what git would take for an option or a program, and for other protocols */
export function parseRemote(text: string): RemoteAddress {
  const odd = oddity(text);
  if (odd !== undefined) throw refusedRemote(unread(text), odd);
  const [, scheme, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/.exec(text) ?? [];
  if (scheme !== undefined) return parseUrl(text, scheme, rest);
  const [, host, path = ''] = /^((?:[^/:[\]]*@)?\[[^\]/]*\]|[^/:]*):(.*)$/.exec(text) ?? [];
  if (host !== undefined) return parseHostAndPath(text, host, path);
  return { protocol: 'file', location: text, shown: text, secrets: [] };
}

/** What was not taken apart, for people: whatever may be a user or a password in it is masked. */
function unread(text: string): string {
  return text
    .replace(unprintable, '?')
    .replace(/\/\/.*@/g, `//${mask}@`)
    .slice(0, 200);
}

/** The text with all that may be a password masked, and on one line. */
export function withoutSecrets(text: string, { secrets }: Pick<RemoteAddress, 'secrets'>): string {
  const masked = secrets.reduce((rest, secret) => rest.replaceAll(secret, mask), text);
  return masked
    .replace(/(https?:\/\/)[^/\s@'"]*@/g, `$1${mask}@`)
    .replace(unprintable, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

export function refusedRemote(remote: string, why: string): SnapError<'REMOTE_REFUSED'> {
  return new SnapError('REMOTE_REFUSED', `The remote ${JSON.stringify(remote)} is refused: ${why}.`, { remote, why });
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function oddity(text: string): string | undefined {
  if (text === '') return 'it is empty';
  if (text.trim() !== text) return 'it begins or ends with a space';
  if (text.search(unprintable) >= 0) return 'it holds control characters';
  if (text.startsWith('-')) return 'it begins with "-", as options do';
  if (/^[A-Za-z0-9+.-]*::/.test(text)) return 'it names a helper program';
  return undefined;
}

function parseUrl(text: string, scheme: string, rest: string): RemoteAddress {
  if (!protocols.has(scheme))
    throw refusedRemote(
      `${scheme}://…`,
      `its protocol is ${JSON.stringify(scheme)}, and not one of ${[...protocols].join(', ')}`,
    );
  const protocol = scheme as RemoteProtocol;
  if (protocol === 'file') return fileUrl(text, rest);
  const { user, host, path, query } = partsOf(rest);
  refuseAsOption(`${scheme}://${host}${path}`, user, host);
  // For ssh a name is no secret; a web server may take one for a token.
  const isWeb = protocol === 'https' || protocol === 'http';
  const [name = '', ...password] = user.split(':');
  return {
    protocol,
    location: text,
    shown: `${scheme}://${shownUser(user, name, isWeb)}${host}${path}${query === '' ? '' : `?${mask}`}`,
    secrets: secretTexts([...(isWeb ? [user] : []), password.join(':'), query.slice(1)]),
  };
}

function shownUser(user: string, name: string, isWeb: boolean): string {
  if (user === '') return '';
  if (isWeb) return `${mask}@`;
  return user === name ? `${name}@` : `${name}:${mask}@`;
}

function partsOf(rest: string): Readonly<Record<'user' | 'host' | 'path' | 'query', string>> {
  const [, authority = '', path = '', query = ''] = /^([^/]*)([^?#]*)(.*)$/.exec(rest) ?? [];
  const at = authority.lastIndexOf('@');
  return { user: authority.slice(0, Math.max(0, at)), host: authority.slice(at + 1), path, query };
}

/** git follows a host's name in a file URL nowhere. */
function fileUrl(text: string, rest: string): RemoteAddress {
  if (!rest.startsWith('/')) throw refusedRemote(unread(text), 'a file URL has three slashes: file:///path');
  const path = decoded(rest);
  if (path === undefined || path.search(unprintable) >= 0) throw refusedRemote(unread(text), 'its path cannot be read');
  return { protocol: 'file', location: path, shown: path, secrets: [] };
}

function parseHostAndPath(text: string, host: string, path: string): RemoteAddress {
  const at = host.lastIndexOf('@');
  refuseAsOption(text, host.slice(0, Math.max(0, at)), host.slice(at + 1));
  if (path.startsWith('-')) throw refusedRemote(text, 'its path begins with "-", as options do');
  return { protocol: 'ssh', location: text, shown: text, secrets: [] };
}

function refuseAsOption(shown: string, user: string, host: string): void {
  if (host === '') throw refusedRemote(shown, 'it names no host');
  if (host.startsWith('-') || user.startsWith('-'))
    throw refusedRemote(shown, 'the name of its host or user begins with "-", as options do');
}

/** Those that are too short to be told from other text stand only where URLs do. */
function secretTexts(parts: readonly string[]): string[] {
  const texts = parts.flatMap((part) => [part, decoded(part) ?? part]).filter((part) => part.length > 2);
  return [...new Set(texts)].sort((a, b) => b.length - a.length);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return undefined;
  }
}
