import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { bytesOfText, textOfBytes } from '../../core/entry-path.js';
import type { HostPath } from '../../core/entry-path.js';
import { type RemoteProtocol, refusedRemote } from '../../core/remote/address.js';
import type { Remote } from '../../core/remote/remotes.js';
import { SnapError } from '../../errors.js';
import type { Network } from '../git-settings.js';
import type { Environment, Programs } from '../programs.js';

/*
 * What git gets to reach another repository: as little of the caller's environment as the protocol needs, no protocol
 * but the one that was named, and no program but git's own, ssh, and a credential helper that was asked for.
 */

/** Where ssh looks, whatever the environment says. */
export const sshDirectory: HostPath = bytesOfText(join(userInfo().homedir, '.ssh')) as HostPath;

const proxies = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const certificates = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'];
/** Of folders, one that is empty or relative is none. */
const ownPlace = ['HOME', 'USER', 'LOGNAME', 'XDG_RUNTIME_DIR'];
/** How helpers find the store of passwords that they stand for. */
const desktop = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'DBUS_SESSION_BUS_ADDRESS', 'DISPLAY'];

const needed: Readonly<Record<RemoteProtocol, readonly string[]>> = {
  file: [],
  git: [],
  http: [...proxies, ...certificates],
  https: [...proxies, ...certificates],
  ssh: ['SSH_AUTH_SOCK'],
};

/** @throws SnapError GIT_MISSING naming ssh, REMOTE_REFUSED for a helper that may not be started */
export function networkFor(remote: Remote, env: Environment, programs: Programs): Network {
  const { address, mayAsk, readsHome } = remote;
  const helper = helperOf(remote, programs);
  const home = readsHome && address.protocol !== 'file' ? ownPlace : [];
  const names = [...needed[address.protocol], ...home, ...(helper === null ? [] : desktop)];
  return {
    onTerminal: mayAsk,
    configuration: [
      ...['http.sslVerify=true', 'http.followRedirects=initial', 'http.lowSpeedLimit=1', 'http.lowSpeedTime=120'],
      ...['transfer.bundleURI=false', 'push.gpgSign=false', 'push.followTags=false', 'push.recurseSubmodules=no'],
      ...(helper === null ? [] : [`credential.helper=${helper}`]),
    ],
    environment: {
      ...Object.fromEntries(names.flatMap((name) => (isGiven(name, env[name]) ? [[name, env[name]]] : []))),
      // It wins over every setting of git's own, redirects included.
      GIT_ALLOW_PROTOCOL: address.protocol,
      GIT_TERMINAL_PROMPT: mayAsk ? '1' : '0',
      ...(address.protocol === 'ssh' ? { GIT_SSH_COMMAND: sshCommand(programs, mayAsk), GIT_SSH_VARIANT: 'ssh' } : {}),
    },
  };
}

function isGiven(name: string, value: string | undefined): boolean {
  return value !== undefined && (!/^(?:HOME|XDG_.*)$/.test(name) || isAbsolute(value));
}

/** What git is given as the remote, after `--`. */
export function locationOf({ address, directory }: Remote): string {
  if (directory === null) return address.location;
  const path = textOfBytes(directory);
  if (path !== undefined) return path;
  throw refusedRemote(address.shown, 'its path is not UTF-8');
}

/**
 * The other side of a local remote is started by us, in a repository whose hooks and settings we did not make: none of
 * its hooks runs, no other program that it may name, and nothing that goes on afterwards.
 */
export function otherSide({ address }: Remote, program: 'receive-pack' | 'upload-pack'): string[] {
  if (address.protocol !== 'file') return [];
  const settings = localSettings.map((setting) => `-c ${setting}`).join(' ');
  return [`--${program}=GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git ${settings} ${program}`];
}

/** They go through a shell: no character of these means anything to it. */
const localSettings = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.alternateRefsCommand=true', 'core.fsync=all'],
  ...['receive.autogc=false', 'receive.updateServerInfo=false', 'gc.auto=0', 'maintenance.auto=false'],
  ...['core.pager=cat', 'protocol.allow=never'],
];

function sshCommand(programs: Programs, mayAsk: boolean): string {
  const path = programs.findIfThere('ssh');
  if (path === undefined)
    throw new SnapError('GIT_MISSING', 'ssh was not found in any directory of PATH that may be trusted.', {
      program: 'ssh',
    });
  const options = ['ConnectTimeout=30', 'ServerAliveInterval=15', 'ServerAliveCountMax=4'];
  return [quoted(path), ...[...options, ...(mayAsk ? [] : ['BatchMode=yes'])].map((option) => `-o ${option}`)].join(
    ' ',
  );
}

const ofGit: ReadonlySet<string> = new Set(['cache', 'store']);

function helperOf({ credentialHelper, address }: Remote, programs: Programs): string | null {
  if (credentialHelper === null) return null;
  // A path, or the last part of the name of a program of git's; never a line for a shell, nor options.
  if (/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(credentialHelper)) {
    // git looks for its own in its own place first, and for all others wherever PATH leads.
    if (ofGit.has(credentialHelper)) return credentialHelper;
    const path = programs.findIfThere(`git-credential-${credentialHelper}`);
    if (path !== undefined) return quoted(path);
  }
  if (/^\/[^\0-\x1f]*$/.test(credentialHelper) && !programs.isForbidden(credentialHelper))
    return quoted(credentialHelper);
  throw refusedRemote(
    address.shown,
    'its credential helper is none on PATH, nor the path of a program outside of all mounts',
  );
}

function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
