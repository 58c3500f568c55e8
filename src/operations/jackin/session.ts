import { type HostPath, pathFromJson, textOfBytes } from '../../core/entry-path.js';
import type { ContainerView } from '../../core/containers.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { JackinHome } from '../../core/jackin/home.js';
import { type JackinManifest, roleContainer } from '../../core/jackin/manifest.js';
import { type SessionStatus, sessionStatus } from '../../core/jackin/session-status.js';
import type { JackinOrigin } from '../../core/recovery-index.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';

/** What the session that an instance stands for really is now; null for an instance that stands for none. */
export async function sessionOf(context: Context, { recovery, mounts }: InstanceRecord): Promise<SessionStatus | null> {
  const origin = recovery?.jackin ?? null;
  if (origin === null) return null;
  const manifest = manifestNow(await jackinOf(context, origin), origin);
  const folders = mounts.map(({ path }) => path);
  return statusOf(context, manifest, origin.manifest, folders);
}

/** The state of a session by its manifest, and by its container. */
export async function statusOf(
  context: Context,
  manifest: JackinManifest | undefined,
  recorded: JackinManifest,
  folders: readonly HostPath[] = [],
): Promise<SessionStatus> {
  const name = roleContainer(manifest ?? recorded);
  return sessionStatus(manifest, name, await containerOf(context, manifest ?? recorded, folders));
}

/**
 * @param folders the session's own, whose programs are not run
 * @returns `unknown` also where the container is none of docker's
 */
export async function containerOf(
  context: Context,
  manifest: JackinManifest,
  folders: readonly HostPath[],
): Promise<ContainerView> {
  const { backend } = manifest;
  if ((backend ?? 'docker') !== 'docker')
    return { state: 'unknown', why: `its backend is ${String(backend)}, which is not asked` };
  return context.containers.look(roleContainer(manifest), folders);
}

async function jackinOf(context: Context, { home }: JackinOrigin): Promise<JackinHome> {
  return context.jackin(textOfBytes(pathFromJson(home)));
}

/** What can no longer be read is as it was, and not gone. */
function manifestNow(home: JackinHome, { manifest }: JackinOrigin): JackinManifest | undefined {
  try {
    return home.manifest(manifest.container_base);
  } catch (error) {
    if (!isSnapError(error)) throw error;
    return manifest;
  }
}
