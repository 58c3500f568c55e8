import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { WritableDirectory } from '../../src/core/ports.js';
import { area, code, writeFile } from './held-area.js';

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('deep chains', () => {
  const depth = 200;
  const name = 'd'.repeat(60);

  function descend(root: WritableDirectory): WritableDirectory[] {
    const chain = [root];
    for (let level = 0; level < depth; level++) {
      const here = chain.at(-1)!;
      if (here.stat(name) === undefined) here.makeDirectory(name);
      chain.push(here.enter(name));
    }
    return chain;
  }

  test('go beyond what a path may be, hold few descriptors, and lead back to each parent', () => {
    const { root } = area();
    const before = openDescriptors();
    const chain = descend(root);
    expect(depth * (name.length + 1)).toBeGreaterThan(4096 * 2);
    expect(openDescriptors() - before).toBeLessThanOrEqual(66);
    expect(root.statSelf()).toMatchObject({ kind: 'directory' });
    writeFile(chain.at(-1)!, 'deepest', 'x');
    for (let level = depth; level > 0; level--) {
      expect(chain[level]!.list()).toEqual([level === depth ? 'deepest' : name]);
      chain[level]!.close();
    }
    expect(root.list()).toEqual([name]);
    expect(openDescriptors()).toBe(before);
  });

  test('do not lead back into another directory than they came from', () => {
    const { path, root } = area();
    const chain = descend(root);
    // All but the last 64 or so are parked now. One of these is moved out of its parent.
    let at = path;
    for (let level = 0; level < 100; level++) at = join(at, name);
    process.chdir(path);
    onTestFinished(() => process.chdir('/'));
    for (let level = 0; level < 100; level++) process.chdir(name);
    mkdirSync(join(path, 'elsewhere'));
    renameSync(name, join(path, 'elsewhere', name));
    const failed: unknown[] = [];
    for (let level = depth; level > 0; level--)
      try {
        chain[level]!.close();
      } catch (error) {
        failed.push(error);
        break;
      }
    expect(failed).toEqual([code('MOUNT_CHANGED')]);
    for (const directory of chain)
      try {
        directory.close();
      } catch {
        // What cannot be reached again has no descriptor any more.
      }
  });

  test('survive a parent that cannot be read any more', () => {
    const { path, root } = area();
    mkdirSync(join(path, 'a/b'), { recursive: true });
    const a = root.enter('a');
    const b = a.enter('b');
    chmodSync(join(path, 'a'), 0);
    b.close();
    a.close();
    chmodSync(join(path, 'a'), 0o700);
    expect(existsSync(join(path, 'a/b'))).toBe(true);
  });
});
