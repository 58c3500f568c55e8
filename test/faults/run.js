// `npm run faults [-- OPTIONS]`: the suite is TypeScript; it is bundled, run from there, and the bundle removed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';

const root = join(import.meta.dirname, '../..');
const folder = join(root, `.dist-faults-${randomBytes(4).toString('hex')}`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

await build({
  entryPoints: [join(import.meta.dirname, 'main.ts')],
  outdir: folder,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'error',
});
stop();

const env = { ...process.env, JACKIN_TEST_CHECKOUT: root };
const main = ['--enable-source-maps', join(folder, 'main.js'), ...process.argv.slice(2)];
const suite = spawn(process.execPath, main, { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => suite.kill(signal));
process.exitCode = await new Promise((resolve) => suite.on('exit', (code) => resolve(code ?? 1)));
