import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq } from '../../src/core/ids.js';
import type { InstanceRecord } from '../../src/core/instance-record.js';
import { defaultPolicy } from '../../src/core/policy.js';
import { layout } from '../../src/instance/data-directory.js';
import { FileRegistry } from '../../src/instance/registry.js';
import { tempDir } from '../support/temp.js';

const demo = 'demo' as InstanceName;
const recordOf = (name: string): InstanceRecord => ({
  name: name as InstanceName,
  createdAt: '2026-03-01T12:00:00.000Z',
  state: 'open',
  mounts: [{ name: 'web' as MountName, path: '/srv/\xff' as HostPath, dev: 1n, ino: (1n << 64n) - 1n }],
  policy: defaultPolicy,
});

function area(): { registry: FileRegistry; folder: string } {
  const path = tempDir();
  mkdirSync(join(path, 'instances'), { mode: 0o700 });
  return { registry: new FileRegistry(layout(path)), folder: join(path, 'instances') };
}

describe('the registry', () => {
  test('keeps records by name', () => {
    const { registry } = area();
    for (const name of ['b', 'a', 'c']) registry.write(recordOf(name));
    expect(registry.all()).toEqual([recordOf('a'), recordOf('b'), recordOf('c')]);
    expect([registry.find('b' as InstanceName), registry.find(demo)]).toEqual([recordOf('b'), undefined]);
  });

  test('is empty where its folder is missing', () => {
    const registry = new FileRegistry(layout(join(tempDir(), 'none')));
    expect([registry.all(), registry.find(demo), registry.lastSeq(demo), registry.readActivity(demo)]).toEqual([
      [],
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('replaces a record as a whole, privately, and leaves nothing beside it', () => {
    const { registry, folder } = area();
    registry.write({
      ...recordOf('demo'),
      policy: { ...defaultPolicy, exclude: Array.from({ length: 100 }, () => 'x') },
    });
    registry.write({ ...recordOf('demo'), state: 'closed' });
    expect(registry.find(demo)).toEqual({ ...recordOf('demo'), state: 'closed' });
    expect(readdirSync(join(folder, 'demo'))).toEqual(['instance.json']);
    expect(
      [folder, 'demo', 'demo/instance.json'].map(
        (name) => statSync(join(folder, name === folder ? '' : name)).mode & 0o777,
      ),
    ).toEqual([0o700, 0o700, 0o600]);
  });

  test('forgets a record, and no number', () => {
    const { registry } = area();
    registry.write(recordOf('demo'));
    registry.recordLastSeq(demo, 7 as Seq);
    registry.remove(demo);
    registry.remove(demo);
    expect([registry.find(demo), registry.all(), registry.lastSeq(demo)]).toEqual([undefined, [], 7]);
  });

  test('clears away what killed writes left, and nothing else', () => {
    const { registry, folder } = area();
    registry.clearUnfinished(demo);
    registry.write(recordOf('demo'));
    writeFileSync(join(folder, 'demo', 'last-seq.0123456789abcdef.new'), '');
    registry.clearUnfinished(demo);
    expect(readdirSync(join(folder, 'demo'))).toEqual(['instance.json']);
  });

  test('keeps the highest number that was used', () => {
    const { registry } = area();
    registry.recordLastSeq(demo, 3 as Seq);
    registry.recordLastSeq(demo, 12 as Seq);
    expect(registry.lastSeq(demo)).toBe(12);
  });

  test('keeps who is active, and forgets it', () => {
    const { registry } = area();
    registry.clearActivity(demo);
    registry.writeActivity(demo, '{"pid":1}');
    expect(registry.readActivity(demo)).toBe('{"pid":1}');
    registry.clearActivity(demo);
    registry.clearActivity(demo);
    expect(registry.readActivity(demo)).toBeUndefined();
  });

  test('replaces a planted link, and does not write through it', () => {
    const { registry, folder } = area();
    registry.write(recordOf('demo'));
    const text = readFileSync(join(folder, 'demo/instance.json'), 'utf8');
    writeFileSync(join(folder, '../victim'), text);
    unlinkSync(join(folder, 'demo/instance.json'));
    symlinkSync('../../victim', join(folder, 'demo/instance.json'));
    registry.write({ ...recordOf('demo'), state: 'closed' });
    expect(readFileSync(join(folder, '../victim'), 'utf8')).toBe(text);
    expect(registry.find(demo)?.state).toBe('closed');
  });
});

describe('a record that cannot be read is named by its file, never taken for none', () => {
  test.each([
    { what: 'empty', content: '' },
    { what: 'torn', content: '{"format":"1","name":"de' },
    { what: 'of a later format', content: '{"format":"2"}' },
    { what: 'no object', content: '[]' },
  ])('one that is $what', ({ content }) => {
    const { registry, folder } = area();
    for (const name of ['demo', 'other']) registry.write(recordOf(name));
    const file = join(folder, 'demo/instance.json');
    writeFileSync(file, content);
    const named = expect.objectContaining({ code: 'CONFIGURATION_INVALID', data: expect.objectContaining({ file }) });
    expect(() => registry.find(demo)).toThrow(named);
    expect(() => {
      registry.write(recordOf('demo'));
    }).toThrow(named);
    expect(readFileSync(file, 'utf8')).toBe(content);
    expect(registry.all()).toEqual([recordOf('other')]);
    expect(registry.damaged()).toEqual([{ name: 'demo', problem: expect.stringContaining(file) as unknown }]);
  });

  test('one that is a folder', () => {
    const { registry, folder } = area();
    mkdirSync(join(folder, 'demo/instance.json'), { recursive: true });
    expect(registry.all()).toEqual([]);
    expect(registry.damaged().map(({ name }) => name)).toEqual(['demo']);
  });

  test.each(['x', '3 x', `03 ${'a'.repeat(40)}`])('what was fetched is not guessed from %j', (line) => {
    const { registry, folder } = area();
    const commit = 'a'.repeat(40) as ObjectId;
    expect(registry.fetched(demo)).toEqual(new Map());
    registry.recordFetched(demo, [{ seq: 7 as Seq, commit }]);
    expect(registry.fetched(demo)).toEqual(new Map([[7, commit]]));
    writeFileSync(join(folder, 'demo/fetched'), `7 ${commit}\n${line}\n`);
    expect(() => registry.fetched(demo)).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID' }));
    expect(registry.damaged().map(({ name }) => name)).toEqual([demo]);
  });

  test('and so is one whose last number cannot be', () => {
    const { registry, folder } = area();
    registry.write(recordOf('demo'));
    writeFileSync(join(folder, 'demo/last-seq'), 'x');
    expect(registry.all()).toEqual([recordOf('demo')]);
    expect(registry.damaged().map(({ name }) => name)).toEqual(['demo']);
  });

  test("one that is another instance's", () => {
    const { registry, folder } = area();
    registry.write(recordOf('other'));
    mkdirSync(join(folder, 'demo'));
    writeFileSync(join(folder, 'demo/instance.json'), readFileSync(join(folder, 'other/instance.json')));
    expect(() => registry.find(demo)).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID' }));
  });
});

test('what is no folder of an instance is no instance', () => {
  const { registry, folder } = area();
  registry.write(recordOf('demo'));
  writeFileSync(join(folder, '.DS_Store'), '');
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'empty'));
  expect(registry.all()).toEqual([recordOf('demo')]);
});
