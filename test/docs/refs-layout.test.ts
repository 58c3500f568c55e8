import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fsckStrict } from '../support/store-git.js';
import { removeTree } from '../support/remove-tree.js';
import { makeTempDir } from '../support/temp.js';
import { codeBlocks, commandsIn, readPage } from './console-blocks.js';
import { thaw } from './frozen-store.js';

const page = 'refs-layout.md';
const blocks = codeBlocks(page).filter(({ language }) => language === 'console');

describe('refs-layout.md', () => {
  let dataDir: string;

  beforeAll(() => {
    dataDir = makeTempDir('frozen');
    thaw('v1', dataDir);
  });

  afterAll(() => removeTree(dataDir));

  test('has examples', () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  test.each(blocks.flatMap(commandsIn))('line $line prints what it says: $command', ({ command, output }) => {
    const { stdout, stderr } = spawnSync('bash', ['-c', command], {
      cwd: dataDir,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: '/nonexistent',
        LC_ALL: 'C',
        TZ: 'UTC',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
      },
    });
    expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' });
  });

  test('describes a store that git finds sound', () => {
    expect(fsckStrict(dataDir)).toEqual([]);
  });

  test('names every key of a manifest', () => {
    const manifests = [1, 3, 4].map((seq) => {
      const { stdout } = spawnSync('git', ['show', `refs/jackin/demo/${seq}:meta/manifest.json`], {
        cwd: `${dataDir}/store.git`,
        encoding: 'utf8',
      });
      return JSON.parse(stdout) as unknown;
    });
    const named = new Set([...readPage(page).matchAll(/`([a-z_[\].]+)`/g)].flatMap(([, name = '']) => name.split('.')));
    const keys = [...new Set(manifests.flatMap(keysOf))].filter((key) => key !== 'ticket');
    expect(keys.length).toBeGreaterThan(50);
    expect(keys.filter((key) => !named.has(key))).toEqual([]);
  });
});

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}
