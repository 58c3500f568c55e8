import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkout, copyCheckout, copyFromCheckout, makeScratch } from './scratch.js';

const enough = 180_000;
const declared = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the package', () => {
  const scratch = makeScratch();
  const consumer = join(scratch, 'consumer');
  let packed: readonly string[];

  beforeAll(() => {
    const source = join(scratch, 'source');
    mkdirSync(source);
    copyCheckout(source);
    mkdirSync(consumer);
    const [tarball] = JSON.parse(run('npm', ['pack', '--silent', '--json', '--pack-destination', scratch], source));
    packed = tarball.files.map(({ path }: { path: string }) => path);
    run('npm', ['init', '--yes'], consumer);
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(scratch, tarball.filename)], consumer);
  }, enough);

  test('runs from an empty folder, through the link that npm makes', () => {
    expect(run(join(consumer, 'node_modules/.bin/jackin-snap'), ['--version'], consumer)).toBe(`${declared.version}\n`);
  });

  test.each(['jackin-snap', 'jackin-snap/schemas'])('can be imported as %s', (name) => {
    const script = `const found = await import('${name}'); console.log(Object.keys(found).length > 0);`;
    expect(run(process.execPath, ['--input-type=module', '--eval', script], consumer)).toBe('true\n');
  });

  test('holds what is built and written for users, and nothing else', () => {
    const expected = /^(bin|dist|docs|stacks)\/|^(LICENSE|README\.md|CHANGELOG\.md|refs-layout\.md|package\.json)$/;
    expect(packed.filter((path) => !expected.test(path))).toEqual([]);
    expect(packed).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'bin/jackin-snap',
        'bin/package.json',
        'dist/cli/main.cjs',
        'dist/index.d.ts',
      ]),
    );
  });
});

describe('the lock file', () => {
  const text = readFileSync(join(checkout, 'package-lock.json'), 'utf8');
  const locked: readonly (readonly [string, { readonly license?: string; readonly dev?: boolean }])[] = Object.entries(
    JSON.parse(text).packages,
  );

  test('names no place to download from', () => {
    expect(text).not.toContain('"resolved"');
  });

  test('holds only packages with a permissive licence among those that users get', () => {
    const permissive = /^\(?(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|Zlib|BlueOak-1\.0\.0)( (AND|OR) |\)?$)/;
    const others = locked.filter(([, { license = '', dev }]) => !dev && !permissive.test(license));
    expect(others).toEqual([]);
  });
});

describe('a fresh checkout', () => {
  test('is built once when two commands start at the same time', { timeout: enough }, async () => {
    const fresh = join(makeFolder(), 'fresh');
    mkdirSync(fresh);
    copyCheckout(fresh);
    const command = join(fresh, 'bin/jackin-snap');
    const both = await Promise.all([start(command, ['--version']), start(command, ['--version'])]);

    expect(both.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: `${declared.version}\n` },
      { code: 0, stdout: `${declared.version}\n` },
    ]);
    expect(both.filter(({ stderr }) => stderr.includes('installing and building'))).toHaveLength(1);
    expect(readdirSync(fresh).filter((name) => name.startsWith('.dist-'))).toEqual(['.dist-lock']);
    expect(await start(command, ['--version'])).toEqual({ code: 0, stdout: `${declared.version}\n`, stderr: '' });
  });

  test('says what to type when npm is missing', async () => {
    const fresh = makeFolder();
    copyCheckout(fresh);
    rmSync(join(fresh, 'node_modules'));
    const { code, stdout, stderr } = await start(process.execPath, [join(fresh, 'bin/jackin-snap')], {
      PATH: '/nowhere',
    });
    expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
    expect(stderr).toContain('npm cannot be started');
    expect(stderr).toContain(`cd "${fresh}" && npm ci && npm run build`);
  });

  test('says what to type when it may not be written', async () => {
    const fresh = makeFolder();
    copyCheckout(fresh);
    chmodSync(fresh, 0o555);
    const { code, stdout, stderr } = await start(join(fresh, 'bin/jackin-snap'), [], {}, asOrdinaryUser());
    chmodSync(fresh, 0o755);
    expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
    expect(stderr).toContain(`cd "${fresh}" && npm ci && npm run build`);
  });
});

test('an installation without its compiled files says so', async () => {
  const broken = makeFolder();
  copyFromCheckout(broken, ['bin', 'package.json']);
  const { code, stderr } = await start(join(broken, 'bin/jackin-snap'), []);
  expect(code).toBe(9);
  expect(stderr).toContain('Install the package again.');
});

const scratchOfTests = makeScratch();
let folders = 0;

function makeFolder(): string {
  const folder = join(scratchOfTests, String(++folders));
  mkdirSync(folder);
  return folder;
}

// Root may write anywhere, so it steps down to a user that owns nothing.
function asOrdinaryUser(): { uid?: number; gid?: number } {
  const nobody = 65534;
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function start(program: string, args: readonly string[], env = {}, identity = {}): Promise<Ended> {
  const options = { encoding: 'utf8' as const, env: { ...process.env, ...env }, ...identity };
  try {
    return { code: 0, ...(await promisify(execFile)(program, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    return { code, stdout, stderr };
  }
}
