import { spawnSync } from 'node:child_process';
import { borg } from './borg.js';
import { git } from './git.js';
import { restic } from './restic.js';
import type { Surroundings, Tool } from './tool.js';

interface Peer {
  readonly name: 'git' | 'restic' | 'borg';
  readonly askVersion: readonly string[];
  readonly make: (surroundings: Surroundings) => Tool;
}

const peers: readonly Peer[] = [
  { name: 'git', askVersion: ['--version'], make: git },
  { name: 'restic', askVersion: ['version'], make: restic },
  { name: 'borg', askVersion: ['--version'], make: borg },
];

export interface Installed {
  readonly tools: readonly Tool[];
  readonly versions: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}

/** The peers that this machine has. */
export function installedPeers(surroundings: Surroundings): Installed {
  const asked = peers.map((peer) => ({ peer, version: versionOf(peer, surroundings) }));
  const there = asked.filter(({ version }) => version !== null);
  return {
    tools: there.map(({ peer }) => peer.make(surroundings)),
    versions: Object.fromEntries(there.map(({ peer, version }) => [peer.name, version ?? ''])),
    missing: asked.filter(({ version }) => version === null).map(({ peer }) => peer.name),
  };
}

function versionOf(peer: Peer, { env }: Surroundings): string | null {
  const { error, status, stdout } = spawnSync(peer.name, peer.askVersion, { env, encoding: 'utf8' });
  return error === undefined && status === 0 ? (/\d+(\.\d+)+/.exec(stdout)?.[0] ?? null) : null;
}
