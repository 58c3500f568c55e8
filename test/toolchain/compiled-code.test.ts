import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call } from '../cli/call.js';
import { copyCheckout, makeScratch } from './scratch.js';

const enough = 600_000;
const scratch = makeScratch();
const source = join(scratch, 'source');

beforeAll(() => {
  mkdirSync(source);
  copyCheckout(source);
  build(source);
}, enough);

describe('the compiled code of the command', () => {
  let place: string;
  let code: string;

  beforeEach(() => {
    place = join(scratch, 'place');
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    for (const part of ['bin', 'dist', 'package.json', 'node_modules'])
      cpSync(join(source, part), join(place, part), { recursive: true });
    code = join(
      place,
      'dist/cli',
      filesIn(place).find((name) => name.endsWith('.save.code'))!,
    );
  });

  test('lies beside the one file that the command is in, and is used wherever that is', () => {
    expect(filesIn(place).filter((name) => name.startsWith('main'))).toEqual([
      expect.stringMatching(/^main-[0-9a-f]{16}\.cjs$/),
      expect.stringMatching(/^main-[0-9a-f]{16}\.cjs\.list\.code$/),
      expect.stringMatching(/^main-[0-9a-f]{16}\.cjs\.other\.code$/),
      expect.stringMatching(/^main-[0-9a-f]{16}\.cjs\.restore\.code$/),
      expect.stringMatching(/^main-[0-9a-f]{16}\.cjs\.save\.code$/),
      'main.cjs',
    ]);
    const { allUses } = createRequire(import.meta.url)(join(place, 'bin/load-code.cjs'));
    for (const use of allUses) expect(isUsed(place, use)).toBe(true);
  });

  test.each([
    { use: 'save', words: ['--data-dir', '/d', 'save'] },
    { use: 'list', words: ['list', '--all'] },
    { use: 'restore', words: ['restore', '1'] },
    { use: 'restore', words: ['undo', '--yes'] },
    { use: 'other', words: ['diff', '1'] },
    { use: 'other', words: [] },
    { use: 'other', words: ['toString'] },
  ])('is that of $use for $words', ({ use, words }) => {
    const { useOf } = createRequire(import.meta.url)(join(place, 'bin/load-code.cjs'));
    expect(useOf(words)).toBe(use);
  });

  test('belongs to a source in one-byte characters, as it is read', () => {
    const text = readFileSync(code.replace('.save.code', ''));
    expect(text.findIndex((byte) => byte > 0x7f)).toBe(-1);
  });

  test.each([
    { what: 'missing', harm: () => rmSync(code) },
    { what: 'empty', harm: () => writeFileSync(code, '') },
    { what: 'torn', harm: () => writeFileSync(code, readFileSync(code).subarray(0, 100_000)) },
    { what: 'shorter than its header', harm: () => writeFileSync(code, readFileSync(code).subarray(0, 2)) },
    {
      what: 'of another source',
      harm: () => writeFileSync(code, sealed(compiled('exports.main = () => process.exit(9)'))),
    },
    { what: 'of another version of node', harm: () => flipSealed(code, 4) },
    { what: 'damaged', harm: () => flip(code, 50_000) },
    { what: 'no code at all', harm: () => writeFileSync(code, 'no code at all') },
    { what: 'a folder', harm: () => replaceByFolder(code) },
  ])('that is $what only costs time', ({ harm }) => {
    harm();
    expect(isUsed(place, 'save')).toBe(false);
    const run = spawnSync(join(place, 'bin/jackin-snap'), ['save', '--help'], { encoding: 'utf8' });
    expect({ code: run.status, stdout: run.stdout, stderr: run.stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining('--if-changed'),
      stderr: '',
    });
  });
});

test('a command that ends before it is done is no success, and says so', () => {
  const place = join(scratch, 'unsettled');
  cpSync(join(source, 'bin'), join(place, 'bin'), { recursive: true });
  mkdirSync(join(place, 'dist/cli'), { recursive: true });
  writeFileSync(join(place, 'dist/cli/main.cjs'), 'exports.main = () => new Promise(() => {});');
  const run = spawnSync(join(place, 'bin/jackin-snap'), ['list'], { encoding: 'utf8' });
  expect([run.status, run.stderr]).toEqual([13, expect.stringContaining('it ended before it was done')]);
});

describe('the overview, which is printed without the command', () => {
  test.each(['--help', '-h', 'help'])('is the same text for %s', async (word) => {
    const run = spawnSync(join(source, 'bin/jackin-snap'), [word], { encoding: 'utf8' });
    const { code, stdout, stderr } = await call([word]);
    expect({ code: run.status, stdout: run.stdout, stderr: run.stderr }).toEqual({ code, stdout, stderr });
  });

  test.each([1, 40, 79, 80, 81, 99, 100, 101, 300])('is the same on a terminal of %i columns', async (columns) => {
    const command = `stty cols ${columns}; exec '${join(source, 'bin/jackin-snap')}' --help`;
    const shown = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
    expect(shown.stdout.replaceAll('\r\n', '\n')).toBe((await call(['--help'], { columns, terminal: true })).stdout);
  });

  test('is the command itself where a word stands beside it', () => {
    const run = spawnSync(join(source, 'bin/jackin-snap'), ['save', '--help'], { encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([0, expect.stringContaining('--if-changed')]);
  });

  test('that cannot be written is no success', () => {
    const run = spawnSync('sh', ['-c', `'${join(source, 'bin/jackin-snap')}' --help >/dev/full`], { encoding: 'utf8' });
    expect([run.status === 0, run.stderr]).toEqual([false, expect.stringContaining('The output cannot be written')]);
  });
});

describe('builds', () => {
  test('of different sources at the same time leave a command that finds its file', { timeout: enough }, async () => {
    const place = join(scratch, 'twice');
    mkdirSync(place);
    copyCheckout(place);
    cpSync(join(source, 'dist'), join(place, 'dist'), { recursive: true });
    const old = namedBy(place);
    const first = promisify(execFile)(process.execPath, [join(place, 'bin/build.mjs')]);
    const main = join(place, 'src/cli/main.ts');
    const second = promisify(execFile)(process.execPath, [join(place, 'bin/build.mjs')]);
    writeFileSync(main, `${readFileSync(main, 'utf8')}\nexport const another = 'another';\n`);
    await Promise.all([first, second]);
    expect(filesIn(place)).toEqual(expect.arrayContaining([namedBy(place), old]));
    expect(execFileSync(join(place, 'bin/jackin-snap'), ['--version'], { encoding: 'utf8' })).toMatch(/^\d/);
    expect(readdirSync(place).filter((name) => name.startsWith('.dist-'))).toEqual([]);

    // What is older than any build goes with the next one: as if that came two hours later.
    const last = namedBy(place);
    const others = `main-${'0'.repeat(16)}.cjs`;
    writeFileSync(join(place, 'dist/cli', others), 'of a build that ended early');
    const builder = pathToFileURL(join(place, 'bin/build.mjs')).href;
    const later = `const now = Date.now; Date.now = () => now() + 7_200_000;
      await (await import(${JSON.stringify(builder)})).build(${JSON.stringify(place)});`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', later], { stdio: 'ignore' });
    expect(filesIn(place)).not.toContain(others);
    expect(filesIn(place)).toEqual(expect.arrayContaining([namedBy(place), last]));
  });
});

function build(folder: string): void {
  execFileSync(process.execPath, [join(folder, 'bin/build.mjs')], { stdio: 'ignore' });
}

function filesIn(folder: string): string[] {
  return readdirSync(join(folder, 'dist/cli')).sort();
}

function namedBy(folder: string): string {
  return /main-[0-9a-f]{16}\.cjs/.exec(readFileSync(join(folder, 'dist/cli/main.cjs'), 'utf8'))![0];
}

/** Did this node take the code that was kept? */
function isUsed(folder: string, use: string): boolean {
  const loader = join(folder, 'bin/load-code.cjs');
  const file = join(folder, 'dist/cli', namedBy(folder));
  const script = `const { compile } = require(${JSON.stringify(loader)});
    console.log(compile(...${JSON.stringify([file, use])}).cachedDataRejected === false);`;
  return execFileSync(process.execPath, ['--eval', script], { encoding: 'utf8' }) === 'true\n';
}

function compiled(text: string): Buffer {
  const script = `process.stdout.write(new (require('node:vm').Script)(${JSON.stringify(text)}).createCachedData())`;
  return execFileSync(process.execPath, ['--eval', script]);
}

function sealed(code: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(code));
  return Buffer.concat([sum, code]);
}

/** Damage that the checksum does not tell of. */
function flipSealed(path: string, at: number): void {
  const code = readFileSync(path).subarray(4);
  code[at]! ^= 0xff;
  writeFileSync(path, sealed(code));
}

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function flip(path: string, at: number): void {
  const content = readFileSync(path);
  content[at]! ^= 0xff;
  writeFileSync(path, content);
}
