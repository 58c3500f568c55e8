import { type EntryPath, type HostPath, pathFromJson } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Manifest, ManifestMount } from '../../core/manifest.js';
import type { RestoreRequest } from '../../core/requests.js';
import { chooseMounts } from '../path-arguments.js';

/** A mount that a restore is to put back. */
export interface Target {
  readonly manifestMount: ManifestMount;
  readonly mount: MountRecord;
  readonly scope: readonly EntryPath[] | null;
}

/** The mounts that are asked for, at their recorded paths. */
export function chooseTargets(manifest: Manifest, record: InstanceRecord, request: RestoreRequest): Target[] {
  const names = manifest.mounts.map(({ name }) => name as MountName);
  const chosen = chooseMounts(names, request);
  return manifest.mounts
    .filter(({ name }) => chosen.has(name as MountName))
    .map((manifestMount) => {
      const name = manifestMount.name as MountName;
      const path = pathFromJson(manifestMount.path) as HostPath;
      const mount = record.mounts.find((known) => known.name === name) ?? {
        name,
        path,
        dev: BigInt(manifestMount.device),
        ino: BigInt(manifestMount.inode),
      };
      return { manifestMount, mount: { ...mount, path }, scope: chosen.get(name) ?? null };
    });
}
