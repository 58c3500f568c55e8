import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRegularFile, readRegularFile } from '../../src/fs/regular-file.js';
import { tempDir } from '../support/temp.js';

const code = (value: string): unknown => expect.objectContaining({ code: value });

test('a file is read whole, and what is none is not waited for', () => {
  const folder = tempDir();
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('file'), 'content');
  mkdirSync(at('folder'));
  spawnSync('mkfifo', [at('pipe')]);
  symlinkSync('/dev/zero', at('device'));
  expect(readRegularFile(at('file'), 'utf8')).toBe('content');
  expect(readRegularFile(at('file'))).toEqual(Buffer.from('content'));
  for (const open of [readRegularFile, openRegularFile]) {
    expect(() => open(at('folder'))).toThrow(code('EISDIR'));
    expect(() => open(at('pipe'))).toThrow(code('ENXIO'));
    expect(() => open(at('device'))).toThrow(code('ENXIO'));
    expect(() => open(at('nothing'))).toThrow(code('ENOENT'));
  }
});
