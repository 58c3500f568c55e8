import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const seconds = (count: number): number => count * 1000;
const minutes = (count: number): number => seconds(60 * count);

pinEnvironment();

export default defineConfig({
  test: {
    expect: { requireAssertions: true },
    restoreMocks: true,
    unstubEnvs: true,
    passWithNoTests: true,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      project('unit', ['test/*.test.ts', tests('core,operations,cli,toolchain,bench')], seconds(30)),
      project('integration', [tests('fs,git,instance,run,scan,contract')], minutes(2)),
      project('e2e', [tests('e2e,acceptance,faults,properties')], minutes(15)),
      project('docs', ['test/docs/**/*.test.ts'], minutes(5)),
    ],
  },
});

function tests(folders: string): string {
  return `test/{${folders}}/**/*.test.ts`;
}

function project(name: string, include: string[], timeout: number): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, testTimeout: timeout, hookTimeout: timeout } };
}

// Whoever runs the tests, on whatever machine: git, node and jackin-snap see the same surroundings.
// The workers inherit what is set here.
function pinEnvironment(): void {
  // npm keeps its own settings and cache, so that packing and installing need little of the network.
  process.env['npm_config_cache'] ??= join(homedir(), '.npm');
  process.env['npm_config_userconfig'] ??= join(homedir(), '.npmrc');
  for (const name of Object.keys(process.env)) {
    if (/^(GIT_|XDG_|JACKIN(?!_TEST_)|FORCE_COLOR$)/.test(name)) Reflect.deleteProperty(process.env, name);
  }
  const home = mkdtempSync(join(tmpdir(), 'jackin-test-home-'));
  process.on('exit', () => rmSync(home, { recursive: true, force: true }));
  Object.assign(process.env, { HOME: home, TZ: 'UTC', LC_ALL: 'C', NO_COLOR: '1' });
}
