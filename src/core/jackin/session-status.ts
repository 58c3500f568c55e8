import { type ContainerView, isLive } from '../containers.js';
import type { JackinManifest } from './manifest.js';

/** What a session really is, by its manifest and its container together: jackin's own word goes stale either way. */
export interface SessionStatus {
  /** jackin's word for it, or one of ours: `killed_by_host`, `exited`, `purged` (jackin has it no more). */
  readonly status: string;
  /** jackin's own word; null where it has the session no more. */
  readonly recorded: string | null;
  /** `running`, `exited`, `not_found` and so on; `unknown` where it cannot be found out. */
  readonly container: ContainerView['state'];
  /** Who may be at work in it, in words; null where nobody is. */
  readonly owner: string | null;
}

/**
 * @param manifest jackin's record as it is now; undefined where jackin has the session no more
 * @param name of the container
 */
export function sessionStatus(
  manifest: JackinManifest | undefined,
  name: string,
  container: ContainerView,
): SessionStatus {
  return {
    status: statusOf(manifest, container),
    recorded: manifest?.status ?? null,
    container: container.state,
    owner: ownerOf(manifest, name, container),
  };
}

/**
 * What cannot be looked at may run. Of a session that jackin has no more this is not so: jackin takes its record away only
 * when it saw that the container is gone.
 */
function ownerOf(manifest: JackinManifest | undefined, name: string, container: ContainerView): string | null {
  if (isLive(container)) return `container ${name} is ${container.state}`;
  if (container.state !== 'unknown' || manifest === undefined) return null;
  return `whether container ${name} runs cannot be found out: ${container.why}`;
}

function statusOf(manifest: JackinManifest | undefined, container: ContainerView): string {
  if (isLive(container)) return container.state === 'removing' ? 'removing' : 'running';
  if (manifest === undefined) return 'purged';
  if (manifest.status === 'failed_setup') return wasSetUp(manifest, container) ? 'killed_by_host' : manifest.status;
  const begun = manifest.status === 'active' || manifest.status === 'running';
  return begun && container.state !== 'unknown' ? endOf(container) : manifest.status;
}

/** Who was attached to it had it set up. */
function wasSetUp({ last_attach_outcome: outcome }: JackinManifest, container: ContainerView): boolean {
  return (outcome ?? '') !== '' || (container.state !== 'unknown' && container.oomKilled);
}

const killed = 137;

function endOf(container: Exclude<ContainerView, { readonly state: 'unknown' }>): string {
  if (container.state === 'not_found' || container.oomKilled || container.exitCode === killed) return 'killed_by_host';
  return container.exitCode === 0 ? 'exited' : 'crashed';
}
