// Run by the build in a folder of its own, with the bundled file and a use of the command: keeps the code that usual
// commands of that use have compiled. `save` comes first: it makes what the others look at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { codeName, compile, run, sealed } from './load-code.cjs';

const [, , filename, use] = process.argv;
const script = compile(filename, use);
const { main } = run(script, filename);

const uses = {
  save: async () => {
    mkdirSync('below/deeper', { recursive: true });
    for (const name of ['below/a', 'below/deeper/b', 'c']) writeFileSync(name, 'one\n');
    await main(['save']);
    writeFileSync('c', 'two\n');
    await main(['save', '.']);
    writeFileSync('below/a', 'three\n');
    for (const words of ['save', 'save --json', 'save --if-changed']) await main(words.split(' '));
  },
  list: async () => {
    for (const words of ['list', 'list --json']) await main(words.split(' '));
  },
  restore: async () => {
    for (const words of ['restore 1 --yes', 'undo --yes']) await main(words.split(' '));
    writeFileSync('below/a', 'four\n');
    for (const words of ['restore latest --yes', 'undo --yes --json']) await main(words.split(' '));
  },
  other: async () => {
    writeFileSync('c', 'four\n');
    for (const words of ['save', 'list', 'diff 1', 'restore 1 --yes', '--help']) await main(words.split(' '));
  },
};

await uses[use]();
// A restore may have set it. V8 takes compiled code only where its settings are those under which it was made.
setFlagsFromString('--heap-growing-percent=0');
writeFileSync(codeName(filename, use), sealed(script.createCachedData()));
process.exitCode = 0;
