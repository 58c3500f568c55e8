import { SnapError } from '../errors.js';

declare const kind: unique symbol;

/** 40 lower-case hex digits naming a git object of any type. */
export type ObjectId = string & { readonly [kind]: 'object' };
/** The name of one protected session, also a valid ref component. */
export type InstanceName = string & { readonly [kind]: 'instance' };
/** The name of one mount within its instance, also a name in a git tree. */
export type MountName = string & { readonly [kind]: 'mount' };
/** A ULID: 26 characters of Crockford base32, upper case. */
export type SnapshotId = string & { readonly [kind]: 'snapshot' };
/** A snapshot's number within its instance: 1, 2, 3 …, never used twice. */
export type Seq = number & { readonly [kind]: 'seq' };

export const zeroObjectId = '0'.repeat(40) as ObjectId;

const nameShape = /^[a-z0-9][a-z0-9._-]{0,99}$/;

function isRefComponent(name: string): boolean {
  return nameShape.test(name) && !name.includes('..') && !name.endsWith('.') && !name.endsWith('.lock');
}

/** @throws SnapError USAGE when the name could not be a ref component. */
export function parseInstanceName(input: string): InstanceName {
  if (isRefComponent(input)) return input as InstanceName;
  throw new SnapError(
    'USAGE',
    `${JSON.stringify(input)} is no instance name: use 1 to 100 of a-z, 0-9, ".", "_" and "-", starting with a letter or digit.`,
    { what: 'instance name' },
  );
}

export function isInstanceName(name: string): name is InstanceName {
  return isRefComponent(name);
}

export function isMountName(name: string): name is MountName {
  return isRefComponent(name);
}

/** @throws SnapError USAGE when the name could not stand in a tree, a ref and `mount:path`. */
export function parseMountName(input: string): MountName {
  if (isRefComponent(input)) return input as MountName;
  throw new SnapError(
    'USAGE',
    `${JSON.stringify(input)} is no mount name: use 1 to 100 of a-z, 0-9, ".", "_" and "-", starting with a letter or digit.`,
    { what: 'mount name' },
  );
}

/** @throws SnapError INTERNAL for anything but 40 lower-case hex digits. */
export function parseObjectId(input: string): ObjectId {
  if (/^[0-9a-f]{40}$/.test(input)) return input as ObjectId;
  throw new SnapError('INTERNAL', `${JSON.stringify(input)} is no object id.`, { what: 'object id' });
}

/** The number that a decimal string without leading zeros stands for, or undefined. */
export function toSeq(input: string): Seq | undefined {
  return /^[1-9][0-9]{0,14}$/.test(input) ? (Number(input) as Seq) : undefined;
}

export function isSnapshotId(input: string): input is SnapshotId {
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(input);
}

/** A slug of any text: lower case, `[a-z0-9._-]`, at most `limit` characters, never empty. */
export function slug(text: string, limit: number): string {
  const cleaned = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, limit)
    .replace(/(\.lock|[^a-z0-9])+$/, '');
  return cleaned === '' ? 'folder' : cleaned;
}
