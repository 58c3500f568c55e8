import { type EntryPath, type HostPath, baseName, contains, displayPath, textOfBytes } from '../../core/entry-path.js';
import { type InstanceName, parseInstanceName, slug } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';

/**
 * The instance that a command is about: the one that was named, else the one whose mount contains the current
 * directory.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS
 */
export function chooseInstance(context: Context): InstanceName {
  if (context.instance !== null) return context.instance;
  const found = instanceOfFolder(context, context.host.cwd);
  if (found !== undefined) return found.name;
  const folder = displayPath(context.host.cwd);
  const unknown = context.registry.damaged().map(({ name }) => ` The folders of ${name} are not known: it is damaged.`);
  throw new SnapError('INSTANCE_NOT_FOUND', `No instance has the folder ${folder}.${unknown.join('')}`, {
    instance: '',
  });
}

/** The record of the instance that a command is about. @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS */
export function chosenRecord(context: Context): InstanceRecord {
  const name = chooseInstance(context);
  const record = context.registry.find(name);
  if (record !== undefined) return record;
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${name}.`, { instance: name });
}

/** The instance with the innermost mount around a folder; of several with the same one, the folder's own. */
export function instanceOfFolder(context: Context, folder: HostPath): InstanceRecord | undefined {
  const real = context.host.realPath(folder) ?? folder;
  let depth = -1;
  let candidates: InstanceRecord[] = [];
  for (const record of context.registry.all()) {
    const innermost = Math.max(
      -1,
      ...record.mounts.filter(({ path }) => contains(path, real)).map(({ path }) => path.length),
    );
    if (innermost > depth) [depth, candidates] = [innermost, []];
    if (innermost >= 0 && innermost === depth) candidates.push(record);
  }
  return onlyOne(context, candidates);
}

function onlyOne(context: Context, candidates: readonly InstanceRecord[]): InstanceRecord | undefined {
  const [first] = candidates;
  if (candidates.length < 2) return first;
  const open = candidates.filter(({ state }) => state === 'open');
  if (open.length === 1) return open[0];
  const derived = candidates.find((record) =>
    record.mounts.some(({ path }) => record.name === derivedName(context, path)),
  );
  if (derived !== undefined) return derived;
  const names = candidates.map(({ name }) => name);
  throw new SnapError('INSTANCE_AMBIGUOUS', `Several instances have this folder: ${names.join(', ')}.`, {
    candidates: names,
  });
}

export function instancesWithMounts(context: Context, paths: readonly HostPath[]): InstanceRecord[] {
  const wanted = new Set<string>(paths);
  return context.registry
    .all()
    .filter(({ mounts }) => mounts.length === wanted.size && mounts.every(({ path }) => wanted.has(path)));
}

/** `<slug>-<8 hex>` of a folder's real path. */
export function derivedName(context: Context, path: HostPath): InstanceName {
  return parseInstanceName(`${folderSlug(path)}-${context.host.digest(path).slice(0, 8)}`);
}

function folderSlug(path: HostPath): string {
  return slug(textOfBytes(baseName(path as string as EntryPath)) ?? '', 60);
}
