import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from './scratch.js';

test('every test file belongs to exactly one project', () => {
  const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
  const listed = execFileSync(process.execPath, [vitest, 'list', '--filesOnly', '--json'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  const run = JSON.parse(listed).map(({ file }: { file: string }) => file);
  const written = readdirSync(join(checkout, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(checkout, 'test', path));
  expect(run.sort()).toEqual(written.sort());
});
