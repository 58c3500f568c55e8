import { describe, expect, test } from 'vitest';
import { commandTable } from '../../src/cli/command-table.js';
import { call } from './call.js';

const subcommands = ['list', 'show', 'activate', 'deactivate', 'set', 'close', 'import'].map(
  (verb) => `instance ${verb}`,
);
const recoveries = ['show', 'list', 'diff', 'restore'].map((verb) => `recovery ${verb}`);
const groups = ['instance', 'recovery'];
const names = commandTable.map(({ name }) => name).filter((name) => !groups.includes(name));
const commands = [...names, ...subcommands, ...recoveries];

describe('help', () => {
  test('the overview fits one screen of 80 columns', async () => {
    const { code, stdout, stderr, asked } = await call(['--help']);
    expect({ code, stderr, asked }).toEqual({ code: 0, stderr: '', asked: [] });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(50);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    for (const { name, hidden } of commandTable) if (!hidden) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  });

  test.each(['--help', 'show --help'])('%s says how much of an id is needed', async (line) => {
    const { stdout } = await call(line.split(' '));
    expect(stdout.replaceAll('\n', ' ')).toMatch(/4 or more characters of (an|its) id/);
  });

  test.each(commands)('%s has examples and exit codes, in 80 columns', async (name) => {
    const { code, stdout } = await call([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: jackin-snap ${name}\\b`));
    expect(stdout).toContain('\nExamples:\n  jackin-snap ');
    expect(stdout).toMatch(/\nExit codes:\n {2}0 /);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each(commands.filter((name) => name !== 'run'))('the examples of %s are right', async (name) => {
    const { stdout } = await call([...name.split(' '), '--help']);
    const examples = [...stdout.matchAll(/^ {2}jackin-snap (.*)$/gm)].map(([, words = '']) =>
      words.replace(/ >.*/, ''),
    );
    for (const example of examples) {
      const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      const { code, stderr } = await call(argv.map((word) => word.replace('$$', '12')));
      expect(code, stderr).not.toBe(2);
    }
  });

  test('"help COMMAND" is "COMMAND --help"', async () => {
    expect((await call(['help', 'save'])).stdout).toBe((await call(['save', '--help'])).stdout);
  });

  test('no command at all is wrong usage, with the overview on stderr', async () => {
    const { code, stdout, stderr } = await call([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: jackin-snap');
  });

  test.each([
    { line: 'lst', says: 'Did you mean one of list, ls?' },
    { line: 'save --mesage x', says: 'Did you mean --message?' },
    { line: 'save --trigger x', says: 'none of manual' },
    { line: 'save --max-file-size 1X', says: 'is no size' },
  ])('$line: $says', async ({ line, says }) => {
    const { code, stdout, stderr } = await call(line.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});
