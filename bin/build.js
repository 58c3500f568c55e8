import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
 * The command is put together in few files, since Node spends most of a short command's time on finding and reading
 * modules. What only some commands need stays in files of its own. The library is left as it was compiled.
 */
async function bundleCommand(root, outDir) {
  // Of the checkout that is built, and not there before its packages are installed.
  const { build: bundle } = await import(pathToFileURL(join(root, 'node_modules/esbuild/lib/main.js')).href);
  const bundled = join(outDir, 'cli-bundled');
  await bundle({
    entryPoints: { main: join(outDir, 'cli/main.js'), ...threads(outDir) },
    outdir: bundled,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    chunkNames: '[name]-[hash]',
    logLevel: 'error',
    // Packages in the older module format ask for built-in modules by `require`.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  });
  rmSync(join(outDir, 'cli'), { recursive: true });
  renameSync(bundled, join(outDir, 'cli'));
}

/** Files that start a thread of their own: each lies beside the file that names it, here as in the library. */
function threads(outDir) {
  const files = filesBelow(outDir).filter((file) => file.endsWith('-worker.js'));
  return Object.fromEntries(files.map((file) => [basename(file, '.js'), join(outDir, file)]));
}

function publish(fresh, dist) {
  if (!existsSync(join(dist, 'cli/main.js'))) {
    rmSync(dist, { recursive: true, force: true });
    renameSync(fresh, dist);
    return;
  }
  const files = filesBelow(fresh);
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(fresh, file), join(dist, file));
  }
  const wanted = new Set(files);
  for (const file of filesBelow(dist)) if (!wanted.has(file)) rmSync(join(dist, file));
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
