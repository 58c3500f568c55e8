import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { allUses } from './load-code.cjs';

/** Compiles src/ to dist/. A command that starts meanwhile finds each file, old or new. All output goes to stderr. */
export async function build(root) {
  const fresh = join(root, `.dist-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(fresh);
    compile(root, fresh);
    await bundleCommand(root, fresh);
    publish(fresh, join(root, 'dist'));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compile(root, outDir) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const arguments_ = [compiler, '-p', 'tsconfig.build.json', '--outDir', outDir];
  const { error, status } = spawnSync(process.execPath, arguments_, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error || status !== 0) throw new Error('the build failed.', { cause: error });
}

/**
 * The command is put together in one file, since Node spends most of a short command's time on finding, reading and
 * compiling modules; what it compiles to is kept beside it. Each part is still run only when it is asked for. The
 * library is left as it was compiled.
 */
async function bundleCommand(root, outDir) {
  // Of the checkout that is built, and not there before its packages are installed.
  const { build: bundle } = await import(pathToFileURL(join(root, 'node_modules/esbuild/lib/main.js')).href);
  const bundled = join(outDir, 'cli-bundled');
  const common = { bundle: true, platform: 'node', target: 'node20', minifySyntax: true, minifyWhitespace: true };
  await bundle({ ...common, entryPoints: threads(outDir), outdir: bundled, format: 'esm', logLevel: 'error' });
  const { outputFiles } = await bundle({
    ...common,
    entryPoints: [join(outDir, 'cli/main.js')],
    write: false,
    format: 'cjs',
    plugins: [leftOut],
    define: { 'import.meta.url': '__url' },
    logLevel: 'error',
  });
  const contents = asFunction(outputFiles[0].text);
  const name = `main-${createHash('sha256').update(contents).digest('hex').slice(0, 16)}.cjs`;
  writeFileSync(join(bundled, name), contents);
  writeFileSync(join(bundled, 'main.cjs'), loader(name, { version: versionOf(root), help: await helpOf(outDir) }));
  rmSync(join(outDir, 'cli'), { recursive: true });
  renameSync(bundled, join(outDir, 'cli'));
  keepCode(root, join(outDir, 'cli', name));
}

/** Of the library, and read only by those who need it: it brings a large package, which is no part of the bundle. */
const scanner = '../scan/secret-scanner.js';
const leftOut = {
  name: 'left-out',
  setup: (building) =>
    building.onResolve({ filter: /[/]scan[/]secret-scanner[.]js$/ }, () => ({ path: scanner, external: true })),
};

/** A bundle is run as a script: a function that is handed what a module has, its way to import too. */
function asFunction(text) {
  const parts = text.split(`import(${JSON.stringify(scanner)})`);
  if (parts.length !== 2) throw new Error('the bundle does not import the scanner just once.');
  const body = parts.join(`__import(${JSON.stringify(scanner)})`);
  return Buffer.from(`(function(exports,require,module,__url,__import){${body}\n})`);
}

function versionOf(root) {
  return `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`;
}

const widest = 200;

/** The overview as wide terminals show it, and the least width at which it is the same. */
async function helpOf(outDir) {
  const { runCommandLine } = await import(pathToFileURL(join(outDir, 'cli/main.js')).href);
  const at = async (columns) => {
    let text = '';
    const stdout = { write: async (chunk) => void (text += chunk) };
    const code = await runCommandLine(['--help'], { env: {}, output: { stdout, stderr: stdout, columns } });
    if (code !== 0) throw new Error(`the overview could not be made: ${text}`);
    return text;
  };
  const text = await at(widest);
  let from = widest;
  while (from > 1 && (await at(from - 1)) === text) from -= 1;
  return { text, from };
}

/** People and scripts ask for these often: nothing is loaded for that. Where they cannot be said, the command says why. */
function loader(name, { version, help }) {
  return `'use strict';
const { writeSync } = require('node:fs');

const version = ${JSON.stringify(version)};
const help = ${JSON.stringify(help.text)};

exports.main = async function main(argv) {
  const text = argv.length === 1 ? known(argv[0]) : undefined;
  if (text !== undefined && isSaid(text)) return 0;
  const { loadCode, useOf } = require('../../bin/load-code.cjs');
  return await loadCode(require.resolve('./${name}'), useOf(argv)).main(argv);
};

function known(word) {
  if (word === '--version' || word === '-V') return version;
  if (word !== '--help' && word !== '-h' && word !== 'help') return undefined;
  return columns() >= ${help.from} ? help : undefined;
}

/** As the command counts them. */
function columns() {
  const { isatty } = require('node:tty');
  return (isatty(1) ? process.stdout : isatty(2) ? process.stderr : {}).columns || 80;
}

function isSaid(text) {
  try {
    const bytes = Buffer.from(text);
    const written = writeSync(1, bytes);
    if (written < bytes.length) process.stdout.write(bytes.subarray(written));
    return true;
  } catch {
    return false;
  }
}
`;
}

/** Without it the command only starts more slowly. */
function keepCode(root, file) {
  const folders = ['folder', 'data'].map(() => mkdtempSync(join(tmpdir(), 'jackin-snap-build-')));
  const [cwd, JACKIN_SNAP_DATA_DIR] = folders;
  const env = { ...process.env, JACKIN_SNAP_DATA_DIR };
  try {
    for (const use of allUses) {
      const words = [join(root, 'bin/compile-code.mjs'), file, use];
      spawnSync(process.execPath, words, { cwd, env, stdio: 'ignore', timeout: 60_000 });
    }
  } finally {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  }
}

/** Files that start a thread of their own: each lies beside the file that names it, here as in the library. */
function threads(outDir) {
  return filesBelow(outDir)
    .filter((file) => file.endsWith('-worker.js'))
    .map((file) => ({ in: join(outDir, file), out: basename(file, '.js') }));
}

function publish(fresh, dist) {
  if (!isWhole(dist) && tookPlace(fresh, dist)) return;
  // Last the file that names the others. What it named until then, a command that has just started may still load.
  const first = join('cli', 'main.cjs');
  const before = readIfThere(join(dist, first));
  const files = filesBelow(fresh).sort((a, b) => Number(a === first) - Number(b === first));
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(fresh, file), join(dist, file));
  }
  const wanted = new Set(files);
  for (const file of filesBelow(dist)) {
    const isNamed = before.includes(basename(file).replace(/[.][a-z]+[.]code$/, ''));
    if (!wanted.has(file) && !isNamed) removeIfOld(join(dist, file));
  }
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function isWhole(dist) {
  return existsSync(join(dist, 'cli/main.cjs'));
}

/** In one step, where nothing is in the way: what is there may be another build's, which is just being published. */
function tookPlace(fresh, dist) {
  try {
    renameSync(fresh, dist);
    return true;
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Longer than any build: what is younger may be about to be named by another. */
const oldEnough = 3_600_000;

function removeIfOld(file) {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat !== undefined && Date.now() - stat.ctimeMs > oldEnough) rmSync(file, { force: true });
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const start = folder.length + 1;
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(start));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await build(join(import.meta.dirname, '..'));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
