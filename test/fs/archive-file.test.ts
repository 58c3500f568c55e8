import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';

import { createArchiveFile } from '../../src/fs/archive-file.js';
import { runScript } from '../git/fixture.js';
import { tempDir } from '../support/temp.js';

describe.each([
  { what: 'plain', compress: false, unpack: (bytes: Buffer): Buffer => bytes },
  { what: 'compressed', compress: true, unpack: (bytes: Buffer): Buffer => gunzipSync(bytes) },
])('an archive, $what', ({ compress, unpack }) => {
  test('holds what was written, also when its owner uses the buffer again at once', async () => {
    const path = join(tempDir(), 'archive');
    const archive = createArchiveFile(path, compress);
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(300_000);
    for (let round = 0; round < 20; round++) {
      randomBytes(buffer.length).copy(buffer);
      hash.update(buffer);
      await archive.write(buffer);
      buffer.fill(0);
    }
    await archive.finish();
    expect(
      createHash('sha256')
        .update(unpack(readFileSync(path)))
        .digest('hex'),
    ).toBe(hash.digest('hex'));
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  test('may hold nothing', async () => {
    const path = join(tempDir(), 'archive');
    await createArchiveFile(path, compress).finish();
    expect(unpack(readFileSync(path))).toHaveLength(0);
  });

  test('that is given up leaves no file', async () => {
    const directory = tempDir();
    const archive = createArchiveFile(join(directory, 'archive'), compress);
    await archive.write(randomBytes(100_000));
    await archive.abandon();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('never replaces a file', () => {
    const path = join(tempDir(), 'archive');
    writeFileSync(path, 'old');
    expect(() => createArchiveFile(path, compress)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  test('may have a name of any bytes', async () => {
    const directory = tempDir();
    await createArchiveFile(`${directory}/\xff\n`, compress).finish();
    expect(readdirSync(directory, { encoding: 'latin1' })).toEqual(['\xff\n']);
  });

  test('that outgrows its room fails, and leaves no file', async () => {
    const path = join(tempDir(), 'archive');
    const script = `
      import { randomBytes } from 'node:crypto';
      import { createArchiveFile } from ${JSON.stringify(join(import.meta.dirname, '../../src/fs/archive-file.ts'))};
      const archive = createArchiveFile(${JSON.stringify(path)}, ${compress});
      let failed = '';
      for (let round = 0; round < 50 && failed === ''; round++)
        await archive.write(randomBytes(100_000)).catch((error) => { failed = error.code; });
      const after = [];
      if (${compress}) for (const go of [() => archive.write(randomBytes(10)), () => archive.finish()])
        await go().catch((error) => after.push(error.code));
      await archive.abandon();
      console.log(failed, ...after);`;
    const limited = ([program = '', ...args]: readonly string[]): [string, string[]] => [
      'sh',
      ['-c', 'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"', program, ...args],
    ];
    const { code, text, errors } = await runScript(script, {}, undefined, limited);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(text).toBe(compress ? 'EFBIG EFBIG EFBIG\n' : 'EFBIG\n');
    expect(existsSync(path)).toBe(false);
  });

  test('however many pieces it is written in, waits for one thing at a time', async () => {
    const warned: Error[] = [];
    const note = (warning: Error): number => warned.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const archive = createArchiveFile(join(tempDir(), 'archive'), compress);
    const piece = randomBytes(100_000);
    for (let round = 0; round < 30; round++) await archive.write(piece);
    await archive.finish();
    await new Promise(setImmediate);
    expect(warned).toEqual([]);
  });
});
