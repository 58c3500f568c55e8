// `npm run properties -- --trees 100000 [--seed 1]`: the properties over generated trees, for as many trees as wanted.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { trees: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});

const trees = Number(values.trees);
if (!Number.isInteger(trees) || trees < 1)
  throw new Error(`--trees takes a count, not ${JSON.stringify(values.trees)}.`);

const files = ['test/properties/whole-trees.test.ts', 'test/properties/damaged-trees.test.ts'];
const env = { ...process.env, JACKIN_TEST_TREES: String(Math.ceil(trees / files.length)) };
if (values.seed !== undefined) env.JACKIN_TEST_SEED = values.seed;

const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], { cwd: root, env, stdio: 'inherit' });
process.exitCode = status ?? 1;
