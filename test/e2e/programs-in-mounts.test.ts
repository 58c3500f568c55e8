import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap } from '../support/cli.js';
import { tempDir } from '../support/temp.js';

// An agent can write programs into the folder, and the folder's own programs are often on PATH.
test.each([
  { command: ['save'], from: 'mount' },
  { command: ['save', 'MOUNT'], from: 'home' },
  { command: ['-i', 'new', 'save'], from: 'mount' },
  { command: ['run', '--', 'true'], from: 'mount' },
])('the first "$command" of a folder runs no git or flock that lies in it', async ({ command, from }) => {
  const area = tempDir();
  const mount = join(area, 'mount');
  const trace = join(area, 'ran');
  mkdirSync(join(area, 'home'));
  mkdirSync(join(mount, 'bin'), { recursive: true });
  for (const name of ['git', 'flock']) {
    writeFileSync(join(mount, 'bin', name), `#!/bin/sh\necho ${name} >> ${trace}\nexec /usr/bin/${name} "$@"\n`);
    chmodSync(join(mount, 'bin', name), 0o755);
  }

  const { code, stderr } = await runSnap(
    command.map((word) => word.replace('MOUNT', mount)),
    {
      cwd: join(area, from),
      dataDir: join(area, 'data'),
      env: { PATH: `${mount}/bin:${process.env['PATH'] ?? ''}` },
    },
  );

  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(existsSync(trace)).toBe(false);
});
