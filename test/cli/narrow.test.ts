import stringWidth from 'fast-string-width';
import { describe, expect, test } from 'vitest';
import type { RestoreRequest } from '../../src/core/requests.js';
import { wrapped, words } from '../../src/cli/views/wrap.js';
import { textStyle } from '../../src/cli/views/style.js';
import { call, now } from './call.js';
import { change, fakeSnap, leftOut, listed, restored, saved, showed, summary } from './fake-snap.js';

const long = 'src/a folder with spaces/and-a-name-that-is-longer-than-a-narrow-terminal.txt';
const host = `/work/m/${long}`;
const root = '/work/a/folder/that is/rather/deep/in/the/tree/of/folders';
const deep = { ...summary, mounts: summary.mounts.map((mount) => ({ ...mount, path: root as typeof mount.path })) };
const plan = [
  { ...change('overwrite', long), reason: 'content differs' },
  { ...change('delete', 'old'), reason: 'new since the snapshot' },
];
const kept = restored.kept.map((entry) => ({ ...entry, reason: 'ignored under the rules of the snapshot or of now' }));

const fake = () =>
  fakeSnap({
    restore: () => Promise.resolve({ ...restored, plan, kept, dryRun: true, emergencySnapshot: null }),
    undo: async ({ confirm }: Pick<RestoreRequest, 'confirm'>) => {
      const { messages } = restored;
      await confirm({ snapshot: restored.fromSnapshot, plan, kept, messages });
      return { ...restored, plan, kept };
    },
    save: () => Promise.resolve({ ...saved, observedOnly: [leftOut(long, 'secret'), leftOut('b.key', 'secret')] }),
    show: () =>
      Promise.resolve({
        ...showed,
        snapshot: listed(4, { message: 'a message of many words that has to be broken somewhere\n\nand its body' }),
      }),
    listAll: () => Promise.resolve([deep, deep]),
  });

describe.each([40, 60])('on a terminal of %d columns', (columns) => {
  test.each([
    { line: 'restore 1 --dry-run', whole: [host, 'new since'] },
    { line: 'undo --yes', whole: [host, 'jackin-snap undo'] },
    { line: 'save', whole: [long, 'jackin-snap restore 3'] },
    { line: 'show 4', whole: ['/work/m', 'jackin-snap restore t/4 --state --to DIR'] },
    { line: 'list', whole: [] },
    { line: 'list --all', whole: [root] },
    { line: 'instance show', whole: ['/work/m'] },
    { line: 'instance close', whole: ['jackin-snap -i NAME save /work/m'] },
  ])('$line fits, and no path or command is cut', async ({ line, whole }) => {
    const { stdout, code } = await call(line.split(' '), { fake: fake(), terminal: true, columns });
    expect(code).toBe(0);
    for (const piece of whole) expect(stdout).toContain(piece);
    for (const text of stdout.split('\n')) {
      const piece = whole.find((one) => text.trim().replace(/[:,]$/, '') === one) ?? text.trim();
      const isOnePiece = whole.includes(piece) || !piece.includes(' ');
      expect(isOnePiece || stringWidth(text) <= columns, text).toBe(true);
    }
  });
});

test('a count stays with what it counts', async () => {
  const { stdout } = await call(['restore', '1', '--dry-run'], { fake: fake(), terminal: true, columns: 25 });
  expect(stdout).toMatch(/^To snapshot 1 of t:\n {2}1 overwrite, 1 delete\n/);
});

test('off a terminal a line stays a line', async () => {
  const { stdout } = await call(['restore', '1', '--dry-run'], { fake: fake(), columns: 40 });
  expect(stdout).toContain(`  overwrite ${host}  content differs\n`);
});

test.each([
  { columns: 12, text: 'one two three', indent: 2, is: 'one two\n  three' },
  { columns: 13, text: 'one two three', indent: 2, is: 'one two three' },
  { columns: 4, text: 'longest-of-all is', indent: 1, is: 'longest-of-all\n is' },
  { columns: 8, text: '文字 化け', indent: 0, is: '文字\n化け' },
  { columns: 80, text: '  a  b', indent: 0, is: '  a  b' },
])('$text in $columns columns', ({ columns, text, indent, is }) => {
  expect(wrapped(words(text), textStyle({ terminal: true, columns, now, color: false }), indent)).toBe(is);
});

test('instance close says what is still possible, and that it is for good', async () => {
  const { stdout } = await call(['-i', 't', 'instance', 'close']);
  expect(stdout).toMatch(/is closed: no save, run, undo or restore in place any more\. Its .*snapshots? stays?\./);
  expect(stdout).toMatch(/Still possible: .*export.*restore SNAP --to DIR/);
  expect(stdout).toMatch(/cannot be reopened.*another instance: jackin-snap -i NAME save \/work\/m\n/);
});
