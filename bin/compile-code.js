// Run by the build, with the bundled file as argument: keeps the code that usual commands have compiled.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { codeName, compile, run, sealed } from './load-code.js';

const { filename, script } = compile(pathToFileURL(process.argv[2]));
const { main } = run(script, pathToFileURL(process.argv[2]));
const folder = mkdtempSync(join(tmpdir(), 'jackin-snap-build-'));
const file = join(folder, 'file');
process.env.JACKIN_SNAP_DATA_DIR = mkdtempSync(join(tmpdir(), 'jackin-snap-build-'));
process.chdir(folder);
try {
  writeFileSync(file, 'one\n');
  await main(['save']);
  writeFileSync(file, 'two\n');
  await main(['save']);
  for (const words of ['list', 'diff 1', 'restore 1 --yes', 'undo --yes', '--help']) await main(words.split(' '));
} finally {
  process.chdir('/');
  for (const made of [folder, process.env.JACKIN_SNAP_DATA_DIR]) rmSync(made, { recursive: true, force: true });
}
// A restore may have set it. V8 takes compiled code only where its settings are those under which it was made.
setFlagsFromString('--heap-growing-percent=0');
writeFileSync(codeName(filename), sealed(script.createCachedData()));
process.exitCode = 0;
