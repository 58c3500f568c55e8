import { expect, test } from 'vitest';
import { parseTreeChanges } from '../../src/core/tree-changes.js';

const [zero, a, b] = ['0'.repeat(40), 'a'.repeat(40), 'b'.repeat(40)];

const raw = (modes: string, letter: string, path: string, [from, to] = [a, b]): string =>
  `:${modes} ${from} ${to} ${letter}\0${path}\0`;

test('paths, lines and executable bits are read from git, names as they were', () => {
  const output = [
    raw('000000 100755', 'A', 'm/run.sh', [zero, a]),
    raw('100644 100755', 'M', 'm/now\tit\nruns'),
    raw('100755 100755', 'M', 'm/ran before'),
    raw('100644 000000', 'D', 'n/sub/%2egit%7e1', [a, zero]),
    raw('120000 100644', 'T', 'm/was-link'),
    '3\t0\tm/run.sh\0',
    '1\t2\tm/now\tit\nruns\0',
    '-\t-\tm/ran before\0',
    '0\t7\tn/sub/%2egit%7e1\0',
    '5\t1\tm/was-link\0',
  ].join('');
  expect(parseTreeChanges(output)).toEqual([
    {
      mount: 'm',
      path: 'run.sh',
      change: 'added',
      lines: { added: 3, removed: 0 },
      becameExecutable: true,
      before: null,
      after: a,
    },
    {
      mount: 'm',
      path: 'now\tit\nruns',
      change: 'modified',
      lines: { added: 1, removed: 2 },
      becameExecutable: true,
      before: a,
      after: b,
    },
    { mount: 'm', path: 'ran before', change: 'modified', lines: null, becameExecutable: false, before: a, after: b },
    {
      mount: 'n',
      path: 'sub/.git~1',
      change: 'deleted',
      lines: { added: 0, removed: 7 },
      becameExecutable: false,
      before: a,
      after: null,
    },
    {
      mount: 'm',
      path: 'was-link',
      change: 'modified',
      lines: { added: 5, removed: 1 },
      becameExecutable: false,
      before: null,
      after: b,
    },
  ]);
});

test('nothing changed is no changes', () => {
  expect(parseTreeChanges('')).toEqual([]);
});
