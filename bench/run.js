// `npm run bench [-- OPTIONS]`: the bench is TypeScript; it is bundled, run from there, and the bundle removed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';

const root = join(import.meta.dirname, '..');
const folder = join(root, `.dist-bench-${randomBytes(4).toString('hex')}`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

await build({
  entryPoints: [join(import.meta.dirname, 'main.ts'), join(import.meta.dirname, 'inputs/make.ts')],
  outdir: folder,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  entryNames: '[name]',
  logLevel: 'error',
});
stop();

// In a process of its own, which stays small: the larger a process, the longer it takes to start another.
const main = [join(folder, 'main.js'), root, ...process.argv.slice(2)];
const bench = spawn(process.execPath, ['--enable-source-maps', ...main], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => bench.kill(signal));
process.exitCode = await new Promise((resolve) => bench.on('exit', (code) => resolve(code ?? 1)));
