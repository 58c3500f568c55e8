import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { snapBin } from '../support/cli.js';
import { tempDir } from '../support/temp.js';

/** What the agent of the README does. */
const agent = `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml
echo 'make something else' > plan.txt; printf '#!/bin/sh\\n' > tool; chmod +x tool
`;

test.each(['README.md', 'docs/run.md'])('%s shows what a run prints', (page) => {
  const text = readFileSync(resolve(import.meta.dirname, '../..', page), 'utf8');
  const [, command = '', output] = /```console\n\$ (jackin-snap run [^\n]+)\n([^]*?)```/.exec(text) ?? [];
  const area = tempDir();
  for (const name of ['project', 'programs', 'home']) mkdirSync(join(area, name));
  writeFileSync(join(area, 'project/plan.txt'), 'make something\n');
  // It is there before the run, and none of what that changes.
  writeFileSync(join(area, 'project/agent'), agent);
  symlinkSync(snapBin, join(area, 'programs/jackin-snap'));
  const path = [join(area, 'programs'), dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(':');
  const ran = spawnSync('sh', ['-c', command], {
    cwd: join(area, 'project'),
    env: { PATH: path, HOME: join(area, 'home'), LC_ALL: 'C', TZ: 'UTC' },
    encoding: 'utf8',
  });
  expect(ran.stderr).toBe(output);
});
