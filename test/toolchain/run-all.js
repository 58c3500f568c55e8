// `npm test`: every check, each to its end, and what came of it in .reports/summary.json.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const reports = join(root, '.reports');
const vitestReport = join(reports, 'vitest.json');

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports);

const steps = ['build', 'typecheck', 'lint', 'layers', 'format:check'].map(runStep);
const tests = runTests(process.argv.slice(2));

const passed = steps.filter(({ ok }) => ok).length + tests.passed;
const failed = steps.filter(({ ok }) => !ok).length + tests.failed;
writeFileSync(join(reports, 'summary.json'), JSON.stringify({ passed, failed, skipped: tests.skipped, steps }));

for (const { name, ok, seconds } of steps) print(`${ok ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`);
print(`tests   ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped (${tests.seconds} s)`);
print(`in all  ${passed} passed, ${failed} failed, ${tests.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

function runStep(name) {
  return { name, ...timed('npm', ['run', '--silent', name]) };
}

function runTests(more) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`];
  const { ok, seconds } = timed(process.execPath, [vitest, 'run', ...reporters, ...more]);
  const { passed, failed, skipped } = countsOf(vitestReport);
  // An error outside every test fails the run without failing a test.
  return { passed, failed: ok ? failed : Math.max(failed, 1), skipped, seconds };
}

function timed(program, arguments_) {
  const start = performance.now();
  print(`> ${program === 'npm' ? arguments_.at(-1) : 'tests'}`);
  const { status } = spawnSync(program, arguments_, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  return { ok: status === 0, seconds: Math.round((performance.now() - start) / 1000) };
}

function countsOf(report) {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    const brokenFiles = result.testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    );
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + brokenFiles.length,
      skipped: result.numPendingTests + result.numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
