import { type EntryPath, type HostPath, pathFromJson } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Manifest, ManifestMount } from '../../core/manifest.js';
import type { RestoreRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import { limitsOf } from '../path-arguments.js';

/** A mount that a restore is to put back. */
export interface Target {
  readonly manifestMount: ManifestMount;
  readonly mount: MountRecord;
  readonly scope: readonly EntryPath[] | null;
}

/** The mounts that are asked for, at their recorded paths. */
export function chooseTargets(manifest: Manifest, record: InstanceRecord, request: RestoreRequest): Target[] {
  const names = manifest.mounts.map(({ name }) => name as MountName);
  const limits = request.paths === undefined || request.paths.length === 0 ? null : limitsOf(names, request.paths);
  if (request.mount !== undefined && !names.includes(request.mount)) {
    throw new SnapError('PATH_NOT_FOUND', `The snapshot has no mount ${request.mount}; it has ${names.join(', ')}.`, {
      path: request.mount,
      where: 'mounts',
    });
  }
  return manifest.mounts
    .filter(
      ({ name }) =>
        (request.mount === undefined || name === request.mount) && (limits === null || limits.has(name as MountName)),
    )
    .map((manifestMount) => {
      const name = manifestMount.name as MountName;
      const path = pathFromJson(manifestMount.path) as HostPath;
      const mount = record.mounts.find((known) => known.name === name) ?? {
        name,
        path,
        dev: BigInt(manifestMount.device),
        ino: BigInt(manifestMount.inode),
      };
      return { manifestMount, mount: { ...mount, path }, scope: limits?.get(name) ?? null };
    });
}
