import { SnapError } from '../errors.js';
import { type HostPath, bytesOfText, textOfBytes } from './entry-path.js';
import {
  type InstanceName,
  type MountName,
  type ObjectId,
  type Seq,
  type SnapshotId,
  isSnapshotId,
  toSeq,
} from './ids.js';
import { type MountKind, type SnapshotPointer, type Trigger, triggers } from './results.js';

/*
 * The commit of a snapshot: its message with trailers, and the commit object itself. refs-layout.md has the grammar.
 */

export const formatVersion = '1';

/** What the commit message says of a snapshot. */
export interface SnapshotRecord {
  readonly instance: InstanceName;
  readonly seq: Seq;
  readonly id: SnapshotId;
  readonly trigger: Trigger;
  /** Subject and body, without trailers. */
  readonly message: string;
  readonly createdAt: Date;
  readonly previous: ObjectId | null;
  readonly mounts: readonly { readonly name: MountName; readonly kind: MountKind; readonly path: HostPath }[];
  readonly bases: readonly { readonly mount: MountName; readonly commit: ObjectId; readonly branch: string | null }[];
  readonly recoveryOf: SnapshotPointer | null;
  readonly files: number;
  readonly sizeBytes: number;
  readonly sourceTool: string | null;
  readonly phase: string | null;
  readonly decision: string | null;
  readonly resource: string | null;
}

export function encodeMessage(record: SnapshotRecord): string {
  const trailers: [string, string][] = [
    ['Format', formatVersion],
    ['Instance', record.instance],
    ['Seq', String(record.seq)],
    ['Id', record.id],
    ['Trigger', record.trigger],
    ['Created', record.createdAt.toISOString()],
    ['Stored', `${String(record.files)} ${String(record.sizeBytes)}`],
  ];
  if (record.previous !== null) trailers.push(['Previous', record.previous]);
  for (const mount of record.mounts) trailers.push(['Mount', `${mount.name} ${mount.kind} ${quotePath(mount.path)}`]);
  for (const base of record.bases) trailers.push(['Base', `${base.mount} ${base.commit} ${branchText(base.branch)}`]);
  if (record.recoveryOf !== null) {
    trailers.push([
      'Recovery-Of',
      `${record.recoveryOf.instance}/${String(record.recoveryOf.seq)} ${record.recoveryOf.id}`,
    ]);
  }
  for (const [key, value] of [
    ['Source-Tool', record.sourceTool],
    ['Phase', record.phase],
    ['Decision', record.decision],
    ['Resource', record.resource],
  ] as const) {
    const text = oneLine(value ?? '');
    if (text !== '') trailers.push([key, text]);
  }
  return `${record.message}\n\n${trailers.map(([key, value]) => `Jackin-${key}: ${value}\n`).join('')}`;
}

/** The text that a snapshot is known by: what the user wrote, tidied so that git shows it as subject and body. */
export function tidyMessage(text: string | undefined, otherwise: string): string {
  const lines = (text ?? '')
    .replace(/\0/g, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd());
  const tidied = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return tidied === '' ? otherwise : tidied;
}

const detached = '(detached)';

/** A branch may have the name that stands for none: then it is written in full, and one that looks so once more. */
function branchText(branch: string | null): string {
  if (branch === null) return detached;
  return quotePath(bytesOfText(readsAsDetached.test(branch) ? `refs/heads/${branch}` : branch));
}

const readsAsDetached = /^(refs\/heads\/)*\(detached\)$/;

function branchOf(text: string): string | null {
  if (text === detached) return null;
  if (readsAsDetached.test(text)) return text.slice('refs/heads/'.length);
  return isQuoted.test(text) ? (textOfBytes(unquotePath(text)) ?? damaged('Jackin-Base')) : text;
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** A path as text where that is possible; else quoted as git quotes it, so that it stays one line of ASCII. */
export function quotePath(bytes: string): string {
  const text = textOfBytes(bytes);
  if (text !== undefined && !/[\p{Cc}\p{Zl}\p{Zp}]|^$|^"|^\s|\s$/u.test(text)) return text;
  const quoted = bytes.replace(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"${quoted}"`;
}

const isQuoted = /^"(?:[ !#-[\]-~]|\\[0-3][0-7]{2})*"$/;

export function unquotePath(text: string): HostPath {
  if (!text.startsWith('"')) return bytesOfText(text) as HostPath;
  return text
    .slice(1, -1)
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))) as HostPath;
}

/** A message taken apart: what format it claims can be asked before it is read. */
export interface OpenedMessage {
  /** Undefined when it is no snapshot's. */
  readonly format: string | undefined;
  /** @throws SnapError STORE_DAMAGED when the message is not one that this version writes. */
  readonly decode: () => SnapshotRecord;
}

export function openMessage(message: string): OpenedMessage {
  const [body, trailers] = takenApart(message);
  const written = asWritten.exec(trailers);
  if (written !== null) return { format: formatVersion, decode: () => decodeWritten(body, written) };
  const parts = trailersOf(body, trailers);
  return { format: valueOf(parts, 'Format'), decode: () => decode(parts) };
}

/** The text, and the last paragraph. */
function takenApart(message: string): [body: string, trailers: string] {
  const trimmed = message.trimEnd();
  const cut = trimmed.lastIndexOf('\n\n');
  return cut < 0 ? ['', trimmed] : [trimmed.slice(0, cut), trimmed.slice(cut + 2)];
}

/**
 * All trailers in the order in which we write them. A message is read as often as there are snapshots, and this takes
 * half as long as looking for each key.
 */
const asWritten = new RegExp(
  [
    '^Jackin-Format: 1\nJackin-Instance: (.*)\nJackin-Seq: (.*)\nJackin-Id: (.*)\nJackin-Trigger: (.*)\n',
    'Jackin-Created: (.*)\nJackin-Stored: (.*)(?:\nJackin-Previous: (.*))?((?:\nJackin-Mount: .*)*)',
    '((?:\nJackin-Base: .*)*)(?:\nJackin-Recovery-Of: (.*))?(?:\nJackin-Source-Tool: (.*))?',
    '(?:\nJackin-Phase: (.*))?(?:\nJackin-Decision: (.*))?(?:\nJackin-Resource: (.*))?$',
  ].join(''),
);

function decodeWritten(body: string, written: RegExpExecArray): SnapshotRecord {
  // By number: taking an array apart costs more than all the rest of this.
  const one = (part: number): string => written[part] ?? '';
  return {
    instance: one(1) as InstanceName,
    seq: toSeq(one(2)) ?? damaged('Jackin-Seq'),
    id: snapshotId(one(3)),
    trigger: trigger(one(4)),
    message: body,
    createdAt: moment(one(5)),
    previous: (written[7] ?? null) as ObjectId | null,
    mounts: mountsIn(one(8)),
    bases: linesOf(one(9), '\nJackin-Base: ').map(parseBase),
    recoveryOf: parseRecovery(written[10] ?? null),
    ...parseStored(one(6)),
    sourceTool: written[11] ?? null,
    phase: written[12] ?? null,
    decision: written[13] ?? null,
    resource: written[14] ?? null,
  };
}

function linesOf(text: string, start: string): string[] {
  return text === '' ? [] : text.slice(start.length).split(start);
}

let lastMounts: { readonly text: string; readonly mounts: SnapshotRecord['mounts'] } = { text: '', mounts: [] };

/** The mounts of neighbours are mostly the same. */
function mountsIn(text: string): SnapshotRecord['mounts'] {
  if (text !== lastMounts.text) lastMounts = { text, mounts: linesOf(text, '\nJackin-Mount: ').map(parseMount) };
  return lastMounts.mounts;
}

/** Of a message that is not just as we write it. */
interface MessageParts {
  readonly body: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

function valueOf({ keys, values }: MessageParts, key: string): string | undefined {
  return values[keys.indexOf(key)];
}

function valuesOf({ keys, values }: MessageParts, key: string): string[] {
  return values.filter((_, index) => keys[index] === key);
}

function decode(parts: MessageParts): SnapshotRecord {
  const one = (key: string): string | null => valueOf(parts, key) ?? null;
  const must = (key: string): string => one(key) ?? damaged(`trailer Jackin-${key} is missing`);
  return {
    instance: must('Instance') as InstanceName,
    seq: toSeq(must('Seq')) ?? damaged('Jackin-Seq'),
    id: snapshotId(must('Id')),
    trigger: trigger(must('Trigger')),
    message: parts.body,
    createdAt: moment(must('Created')),
    previous: one('Previous') as ObjectId | null,
    mounts: valuesOf(parts, 'Mount').map(parseMount),
    bases: valuesOf(parts, 'Base').map(parseBase),
    recoveryOf: parseRecovery(one('Recovery-Of')),
    ...parseStored(must('Stored')),
    sourceTool: one('Source-Tool'),
    phase: one('Phase'),
    decision: one('Decision'),
    resource: one('Resource'),
  };
}

function damaged(what: string): never {
  throw new SnapError('STORE_DAMAGED', `A snapshot's message cannot be read: ${what}.`, { problem: what });
}

function trailersOf(body: string, trailers: string): MessageParts {
  const keys: string[] = [];
  const values: string[] = [];
  for (const line of trailers.split('\n')) {
    const match = /^Jackin-([A-Za-z-]+): (.*)$/.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) continue;
    keys.push(match[1]);
    values.push(match[2]);
  }
  return { body, keys, values };
}

function parseStored(text: string): Pick<SnapshotRecord, 'files' | 'sizeBytes'> {
  const stored = /^(\d{1,15}) (\d{1,16})$/.exec(text);
  const [files, sizeBytes] = [Number(stored?.[1]), Number(stored?.[2])];
  if (!Number.isSafeInteger(files) || !Number.isSafeInteger(sizeBytes)) damaged('Jackin-Stored');
  return { files, sizeBytes };
}

function snapshotId(text: string): SnapshotId {
  return isSnapshotId(text) ? text : damaged('Jackin-Id');
}

function trigger(text: string): Trigger {
  return triggers.find((known) => known === text) ?? damaged('Jackin-Trigger');
}

function moment(text: string): Date {
  const time = Date.parse(text);
  return Number.isNaN(time) ? damaged('Jackin-Created') : new Date(time);
}

function parseMount(text: string): SnapshotRecord['mounts'][number] {
  const match = /^(\S+) (plain|clone|worktree) (.+)$/.exec(text);
  if (match?.[1] === undefined || match[3] === undefined) return damaged('Jackin-Mount');
  return { name: match[1] as MountName, kind: match[2] as MountKind, path: hostPath(match[3]) };
}

function hostPath(text: string): HostPath {
  if (text === '""' || (text.startsWith('"') && !isQuoted.test(text))) return damaged('Jackin-Mount');
  return unquotePath(text);
}

function parseBase(text: string): SnapshotRecord['bases'][number] {
  const match = /^(\S+) ([0-9a-f]{40}) (.+)$/.exec(text);
  if (match?.[1] === undefined || match[3] === undefined) return damaged('Jackin-Base');
  return {
    mount: match[1] as MountName,
    commit: match[2] as ObjectId,
    branch: branchOf(match[3]),
  };
}

function parseRecovery(text: string | null): SnapshotPointer | null {
  if (text === null) return null;
  const match = /^([^\s/]+)\/(\d+) (\S+)$/.exec(text);
  const seq = toSeq(match?.[2] ?? '');
  if (match?.[1] === undefined || match[3] === undefined || seq === undefined) return damaged('Jackin-Recovery-Of');
  const instance = match[1] as InstanceName;
  return { instance, seq, id: snapshotId(match[3]), ref: snapshotRefName(instance, seq) };
}

export function snapshotRefName(instance: InstanceName, seq: Seq): string {
  return `refs/jackin/${instance}/${String(seq)}`;
}

export function replaceRefName(commit: ObjectId): string {
  return `refs/replace/${commit}`;
}

export function pinRefName(instance: InstanceName, seq: Seq): string {
  return `refs/jackin-pin/${instance}/${String(seq)}`;
}

const identity = 'jackin-snap <jackin-snap@localhost>';

/** The commit object's bytes. `parent` is set only in a graft, which shows the chain to `git log`. */
export function encodeCommit(commit: {
  tree: ObjectId;
  parent: ObjectId | null;
  createdAt: Date;
  message: string;
}): Buffer {
  const when = `${identity} ${String(Math.floor(commit.createdAt.getTime() / 1000))} +0000`;
  const parent = commit.parent === null ? '' : `parent ${commit.parent}\n`;
  return Buffer.from(`tree ${commit.tree}\n${parent}author ${when}\ncommitter ${when}\n\n${commit.message}`, 'utf8');
}

/** The graft of a parentless commit: its own bytes and a parent. */
export function withParent(commit: Buffer, parent: ObjectId): Buffer {
  const afterTree = commit.indexOf('\n') + 1;
  return Buffer.concat([commit.subarray(0, afterTree), Buffer.from(`parent ${parent}\n`), commit.subarray(afterTree)]);
}
