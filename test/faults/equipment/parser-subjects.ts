import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseActivity } from '../../../src/core/activity.js';
import type { EntryStat } from '../../../src/core/entry.js';
import type { EntryPath } from '../../../src/core/entry-path.js';
import type { InstanceName, ObjectId } from '../../../src/core/ids.js';
import { recordFromJson, recordToJson } from '../../../src/core/instance-record.js';
import { encodeRecord } from '../../../src/core/journal-record.js';
import {
  decodeAttributes,
  decodeManifest,
  decodeObserved,
  encodeAttributes,
  encodeManifest,
  encodeObserved,
} from '../../../src/core/manifest.js';
import { defaultPolicy, policySchema, policyToJson, withSettings } from '../../../src/core/policy.js';
import { encodeMessage, openMessage } from '../../../src/core/snapshot-record.js';
import type { SnapErrorCode } from '../../../src/errors.js';
import { parseJournal } from '../../../src/fs/journal.js';
import { CacheRecorder } from '../../../src/fs/stat-cache/cache-recorder.js';
import { readStatCache } from '../../../src/fs/stat-cache/stat-cache.js';
import { readTable } from '../../../src/fs/stat-cache/table.js';
import { decodeTree, encodeTree } from '../../../src/git/pack/format.js';
import { parseConfig } from '../../../src/git/user-repo/config-file.js';
import { parseIndex } from '../../../src/git/user-repo/index-file.js';
import { treeOfIndex } from '../../../src/git/user-repo/index-tree.js';
import { layout } from '../../../src/instance/data-directory.js';
import { FileRegistry } from '../../../src/instance/registry.js';
import { parserSamples } from './parser-samples.js';

/** One reader of bytes that somebody may have damaged, or planted. Bytes as latin1. */
export interface ParserSubject {
  readonly name: string;
  readonly samples: readonly string[];
  /** With these it may turn an input down. */
  readonly codes: readonly SnapErrorCode[];
  /** Reads the input and, where it is taken, checks that it can be written again: throws otherwise. */
  readonly feed: (input: string) => void;
}

/** @param area an empty folder for those that read files */
export function parserSubjects(area: string): ParserSubject[] {
  const { name, json } = parserSamples;
  return [
    {
      name: 'journal',
      samples: [parserSamples.journal.map((line) => `${line}\n`).join('')],
      codes: ['JOURNAL_DAMAGED'],
      // Each line has its checksum: with right ones the records themselves are reached.
      feed: (input) => {
        for (const text of [input, withSums(input)]) {
          stays(
            textOf(text),
            (bytes) => parseJournal(bytes, 'journal'),
            (records) => withSums(records.map((record) => `${encodeRecord(record)}\n`).join('')),
          );
        }
      },
    },
    {
      name: 'manifest',
      samples: [json.manifest],
      codes: ['STORE_DAMAGED', 'FORMAT_UNKNOWN'],
      feed: (input) =>
        stays(
          bytesOf(input),
          (bytes) => decodeManifest(bytes, 'a/1'),
          (manifest) => encodeManifest(manifest),
        ),
    },
    {
      name: 'observed',
      samples: [json.observed],
      codes: ['STORE_DAMAGED'],
      feed: (input) => stays(bytesOf(input), decodeObserved, encodeObserved),
    },
    {
      name: 'attributes',
      samples: [json.attributes],
      codes: ['STORE_DAMAGED'],
      feed: (input) => stays(bytesOf(input), decodeAttributes, encodeAttributes),
    },
    {
      name: 'message',
      samples: parserSamples.messages,
      codes: ['STORE_DAMAGED'],
      feed: (input) =>
        stays(
          textOf(input),
          (text) => openMessage(text).decode(),
          (record) => encodeMessage(record),
        ),
    },
    instanceRecords(area, name, json.record),
    {
      name: 'activity',
      samples: [json.activity],
      codes: [],
      feed: (input) => stays(textOf(input), parseActivity, (activity) => JSON.stringify(activity)),
    },
    {
      name: 'index',
      samples: parserSamples.indexes,
      codes: [],
      feed: (input) => [input, resummed(input)].forEach((bytes) => readIndex(bytesOf(bytes))),
    },
    {
      name: 'repository configuration',
      samples: [parserSamples.config],
      codes: [],
      feed: (input) => void parseConfig(input)?.get('core', null, 'bare'),
    },
    {
      name: 'settings',
      samples: parserSamples.settings,
      codes: ['USAGE'],
      feed: (input) => {
        const [key = '', value = ''] = textOf(input).split(/=([^]*)/);
        policySchema.parse(JSON.parse(JSON.stringify(policyToJson(withSettings(defaultPolicy, { [key]: value })))));
      },
    },
    {
      name: 'tree',
      samples: [parserSamples.tree],
      codes: ['STORE_DAMAGED', 'INTERNAL'],
      feed: (input) => stays(bytesOf(input), decodeTree, encodeTree),
    },
    statCaches(area),
  ];
}

/** What was taken is written, taken again, and written as the same. */
function stays<Form extends string | Buffer, Value>(
  input: Form,
  decode: (form: Form) => Value | undefined,
  encode: (value: Value) => Form,
): void {
  const value = decode(input);
  if (value === undefined) return;
  const written = encode(value);
  let again: Value | undefined;
  try {
    again = decode(written);
  } catch (cause) {
    throw new Error(`What was read is written so that it cannot be read: ${String(written).slice(0, 400)}`, { cause });
  }
  if (again === undefined || String(encode(again)) !== String(written))
    throw new Error(`What was read changes when it is written again: ${String(written).slice(0, 400)}`);
}

function instanceRecords(area: string, name: InstanceName, sample: string): ParserSubject {
  const directory = layout(join(area, 'data'));
  const registry = new FileRegistry(directory);
  registry.write(recordFromJson(JSON.parse(sample)));
  const folder = directory.instanceDirectory(name);
  return {
    name: 'instance record',
    samples: [sample, '17\n', `17 ${'ab'.repeat(20)}\n18 ${'cd'.repeat(20)}\n`],
    codes: ['CONFIGURATION_INVALID'],
    feed: (input) => {
      const bytes = bytesOf(input);
      if (bytes.length < 20) {
        writeFileSync(join(folder, 'last-seq'), bytes);
        registry.lastSeq(name);
        return;
      }
      if (bytes.length < 120) {
        writeFileSync(join(folder, 'fetched'), bytes);
        registry.fetched(name);
        return;
      }
      writeFileSync(join(folder, 'instance.json'), bytes);
      registry.damaged();
      stays(
        JSON.stringify(recordToJson(registry.find(name)!)),
        (text) => recordFromJson(JSON.parse(text)),
        (record) => JSON.stringify(recordToJson(record)),
      );
    },
  };
}

function readIndex(content: Buffer): void {
  const reading = parseIndex(content, 0n);
  if (reading.kind !== 'read') return;
  const index = reading.value;
  for (const { path } of index.entries()) {
    if (index.size < 50 && !index.has(path)) throw new Error(`${JSON.stringify(path)} is listed and not there.`);
    index.hasBelow(path);
  }
  treeOfIndex(index);
}

/** Its checksum is what it is believed by: only what has no right one, and what is no table, must do no harm. */
function statCaches(area: string): ParserSubject {
  const file = join(area, 'stat-cache');
  const never = { mtimeNs: 0n, ctimeNs: 0n, nlink: 1, size: 0, sparse: false };
  const stat: EntryStat = { kind: 'file', dev: 7n, ino: 1n, mode: 0o755, uid: 0, gid: 0, ...never };
  const recorder = new CacheRecorder(7n);
  for (const path of ['', 'a', 'a/b'] as EntryPath[]) recorder.enter(path, { ...stat, kind: 'directory' }, 'rules');
  const files = ['x', 'y', 'z'].map((name) => ({ name, stat, oid: 'c'.repeat(40) as ObjectId }));
  for (let open = 3; open > 0; open -= 1) recorder.leave(files, 'd'.repeat(40) as ObjectId, true, undefined);
  const defaults = { file: 0o644, executable: 0o755, directory: 0o755, uid: 0, gid: 0 };
  const table = recorder.finish({ defaults, attributes: [], leftOut: [], repositories: [] });
  const whole = Buffer.concat([table, createHash('sha1').update(table).digest()]).toString('latin1');
  return {
    name: 'stat cache',
    samples: [whole],
    codes: [],
    feed: (input) => {
      if (input === whole) return;
      writeFileSync(file, bytesOf(input));
      if (readStatCache(file, 7n) !== undefined) throw new Error('A damaged stat cache is believed.');
      readTable(Buffer.from(new Uint8Array(bytesOf(input.slice(0, -20)))), 7n);
    },
  };
}

function withSums(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^[0-9a-f]{16} /, ''));
  return lines.map((line) => (line === '' ? '' : `${sumOf(line)} ${line}`)).join('\n');
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function resummed(index: string): string {
  const content = bytesOf(index.slice(0, -20));
  return content.toString('latin1') + createHash('sha1').update(content).digest().toString('latin1');
}

function bytesOf(input: string): Buffer {
  return Buffer.from(input, 'latin1');
}

/** As the program reads text: UTF-8. */
function textOf(input: string): string {
  return bytesOf(input).toString('utf8');
}
