import { describe, expect, test } from 'vitest';

import type { NameRules, PathQuestion, RulesInForce } from '../../src/core/classify.js';
import { classify, nothingTracked, possiblyTracked, protectedFromDeletion } from '../../src/core/classify.js';
import type { EntryPath } from '../../src/core/entry-path.js';
import { baseName, isWithin, rootPath } from '../../src/core/entry-path.js';
import { IgnoreRules, patternSet } from '../../src/core/ignore-rules.js';

const asPath = (text: string): EntryPath => text as EntryPath;
const layer = (content: string): IgnoreRules => IgnoreRules.none().with(rootPath, content);

function rulesWith(changes: Partial<RulesInForce> = {}): RulesInForce {
  return {
    policy: { include_secrets: false, max_file_size: 100 },
    rootName: 'mount',
    rootDev: 1n,
    dataDirectory: { dev: 1n, ino: 99n },
    includes: patternSet([]),
    excludes: patternSet([]),
    stacks: IgnoreRules.none(),
    ignore: IgnoreRules.none(),
    tracked: nothingTracked,
    inherited: null,
    force: () => false,
    ...changes,
  };
}

function tracking(...paths: string[]): RulesInForce['tracked'] {
  return {
    has: (path) => paths.includes(path),
    hasBelow: (directory) => paths.some((path) => path !== directory && isWithin(asPath(path), directory)),
  };
}

function ask(
  path: string,
  kind: PathQuestion['kind'] = 'file',
  stat: Partial<PathQuestion['stat']> = {},
): PathQuestion {
  return {
    path: asPath(path),
    kind,
    stat: { dev: 1n, ino: 5n, size: 10, ...stat },
    isGitName: baseName(asPath(path)) === '.git',
  };
}

function verdict(question: PathQuestion, rules: RulesInForce): string {
  const answer = classify(question, rules);
  return answer.store ? `store, ${String(answer.inherit)}` : answer.reason;
}

const forced: RulesInForce['force'] = () => true;
const secretPolicy = { include_secrets: true, max_file_size: 100 };

describe('what no pattern changes', () => {
  test.each([
    { question: ask('pipe', 'special'), rules: { force: forced }, is: 'special' },
    { question: ask('.env', 'special'), rules: {}, is: 'special' },
    {
      question: ask('data', 'directory', { ino: 99n }),
      rules: { force: forced, includes: patternSet(['data']) },
      is: 'excluded',
    },
    { question: ask('data', 'directory', { dev: 2n, ino: 99n }), rules: {}, is: 'foreign_fs' },
    { question: ask('x', 'file', { ino: 99n }), rules: {}, is: 'store, null' },
    { question: ask('a/.git', 'directory'), rules: { includes: patternSet(['.git']) }, is: 'git_dir' },
    { question: ask('a/.git', 'directory'), rules: { force: forced }, is: 'store, null' },
    { question: ask('.git', 'file'), rules: {}, is: 'store, null' },
    { question: ask('.git', 'symlink'), rules: {}, is: 'store, null' },
    { question: ask('proc', 'directory', { dev: 2n }), rules: { force: forced }, is: 'foreign_fs' },
    { question: ask('x', 'file', { dev: 2n }), rules: {}, is: 'store, null' },
    {
      question: ask('.env'),
      rules: { force: forced, includes: patternSet(['.env']), tracked: possiblyTracked },
      is: 'secret',
    },
    { question: ask('a/.ssh', 'directory'), rules: { ignore: layer('.ssh') }, is: 'secret' },
    { question: ask('.env'), rules: { policy: secretPolicy }, is: 'store, null' },
    { question: ask('.env'), rules: { policy: secretPolicy, ignore: layer('.env') }, is: 'ignored' },
    { question: ask('gh', 'directory'), rules: { rootName: '.config' }, is: 'secret' },
  ])('$question.kind $question.path: $is', ({ question, rules, is }) => {
    expect(verdict(question, rulesWith(rules))).toBe(is);
  });
});

describe('patterns', () => {
  test.each([
    { question: ask('x.log'), rules: { ignore: layer('*.log') }, is: 'ignored' },
    { question: ask('x.log'), rules: { ignore: layer('*.log'), tracked: tracking('x.log') }, is: 'store, null' },
    { question: ask('x.log'), rules: { ignore: layer('*.log'), tracked: possiblyTracked }, is: 'store, null' },
    { question: ask('x.log'), rules: { ignore: layer('*.log'), includes: patternSet(['x.*']) }, is: 'store, null' },
    {
      question: ask('x.log'),
      rules: { excludes: patternSet(['*.log', '!x.log']), ignore: layer('') },
      is: 'store, null',
    },
    { question: ask('x.log'), rules: { excludes: patternSet(['*.log']), tracked: tracking('x.log') }, is: 'excluded' },
    { question: ask('x.log'), rules: { excludes: patternSet(['*.log']), ignore: layer('*.log') }, is: 'excluded' },
    {
      question: ask('x.log'),
      rules: { excludes: patternSet(['*.log']), includes: patternSet(['x.log']) },
      is: 'store, null',
    },
    { question: ask('x.log'), rules: { excludes: patternSet(['*.log']), force: forced }, is: 'store, null' },
    { question: ask('x.pyc'), rules: { stacks: layer('*.pyc') }, is: 'excluded' },
    { question: ask('x.pyc'), rules: { stacks: layer('*.pyc'), tracked: tracking('x.pyc') }, is: 'store, null' },
    { question: ask('x'), rules: { ignore: IgnoreRules.none().withUnreadable(rootPath) }, is: 'store, null' },
    { question: ask('big', 'file', { size: 101 }), rules: {}, is: 'too_large' },
    { question: ask('big', 'file', { size: 101 }), rules: { includes: patternSet(['big']) }, is: 'too_large' },
    { question: ask('big', 'file', { size: 101 }), rules: { force: forced }, is: 'store, null' },
    { question: ask('big', 'file', { size: 100 }), rules: {}, is: 'store, null' },
    { question: ask('big', 'symlink', { size: 101 }), rules: {}, is: 'store, null' },
    { question: ask('big', 'file', { size: 101 }), rules: { ignore: layer('big') }, is: 'ignored' },
  ])('$question.path: $is', ({ question, rules, is }) => {
    expect(verdict(question, rulesWith(rules))).toBe(is);
  });
});

describe('directories', () => {
  test.each([
    { rules: {}, is: 'store, null' },
    { rules: { ignore: layer('d/') }, is: 'ignored' },
    { rules: { ignore: layer('d/'), tracked: tracking('d/x') }, is: 'store, ignored' },
    { rules: { ignore: layer('d/'), tracked: tracking('d') }, is: 'store, null' },
    { rules: { ignore: layer('d/'), includes: patternSet(['d/e/*.c']) }, is: 'store, ignored' },
    { rules: { ignore: layer('d/'), includes: patternSet(['d/']) }, is: 'store, included' },
    { rules: { ignore: layer('d/'), includes: patternSet(['*.c']) }, is: 'ignored' },
    { rules: { ignore: layer('d/'), force: forced }, is: 'store, ignored' },
    { rules: { stacks: layer('d/'), tracked: tracking('d/x') }, is: 'store, stack' },
    { rules: { stacks: layer('d/') }, is: 'excluded' },
    { rules: { excludes: patternSet(['d']), tracked: tracking('d/x') }, is: 'excluded' },
    { rules: { excludes: patternSet(['d']), force: forced }, is: 'store, excluded' },
    { rules: { inherited: 'included', excludes: patternSet(['d']) } as const, is: 'store, included' },
    { rules: { inherited: 'ignored', tracked: tracking('d/x') } as const, is: 'store, ignored' },
    { rules: { inherited: 'ignored', tracked: tracking('e/x') } as const, is: 'ignored' },
  ])('d with $rules: $is', ({ rules, is }) => {
    expect(verdict(ask('d', 'directory', { size: 4096 }), rulesWith(rules))).toBe(is);
  });

  test.each([
    { inherited: 'ignored', tracked: tracking('d/x'), is: 'store, null' },
    { inherited: 'ignored', tracked: nothingTracked, is: 'ignored' },
    { inherited: 'stack', tracked: tracking('d/x'), is: 'store, null' },
    { inherited: 'stack', tracked: nothingTracked, is: 'excluded' },
    { inherited: 'excluded', tracked: tracking('d/x'), is: 'excluded' },
    { inherited: 'included', tracked: nothingTracked, is: 'store, null' },
  ] as const)('a file below one that was entered ($inherited): $is', ({ inherited, tracked, is }) => {
    expect(verdict(ask('d/x'), rulesWith({ inherited, tracked, ignore: layer('!x') }))).toBe(is);
  });
});

describe('protection from deletion', () => {
  const open = rulesWith();
  const shut = (changes: Partial<NameRules>): NameRules => ({ ...rulesWith(), ...changes });

  test.each([
    { path: 'x', rules: open, is: null },
    { path: 'x.log', rules: shut({ ignore: layer('*.log') }), is: 'ignored' },
    { path: 'gen/a/b', rules: shut({ ignore: layer('gen/') }), is: 'ignored' },
    { path: 'gen/a/b', rules: shut({ ignore: layer('gen/').with(asPath('gen/a'), '!b') }), is: 'ignored' },
    { path: 'gen/a/b', rules: shut({ ignore: layer('*\n!gen/\n!gen/**') }), is: null },
    { path: 'node_modules/x', rules: shut({ stacks: layer('node_modules/') }), is: 'excluded' },
    { path: 'a/b/c', rules: shut({ excludes: patternSet(['a/b']) }), is: 'excluded' },
    { path: 'a/b/c', rules: shut({ excludes: patternSet(['a/b']), includes: patternSet(['a']) }), is: null },
    { path: 'a/b/c', rules: shut({ excludes: patternSet(['a/b']), includes: patternSet(['c']) }), is: 'excluded' },
    { path: 'a/.ssh/x', rules: open, is: 'secret' },
    { path: 'later.key', rules: open, is: 'secret' },
    { path: 'x', rules: shut({ ignore: IgnoreRules.none().withUnreadable(rootPath) }), is: 'ignored' },
    { path: 'a/x', rules: shut({ ignore: IgnoreRules.none().withUnreadable(asPath('b')) }), is: null },
  ])('$path: $is', ({ path, rules, is }) => {
    expect(protectedFromDeletion(asPath(path), false, rules, open)).toBe(is);
    expect(protectedFromDeletion(asPath(path), false, open, rules)).toBe(is);
  });

  test('secrets are paths like others only where both policies store them', () => {
    const storing = shut({ policy: { include_secrets: true } });
    expect(protectedFromDeletion(asPath('.env'), false, storing, open)).toBe('secret');
    expect(protectedFromDeletion(asPath('.env'), false, storing, storing)).toBeNull();
  });

  test('directory patterns do not protect a file', () => {
    const rules = shut({ ignore: layer('gen/') });
    expect(protectedFromDeletion(asPath('gen'), false, rules, open)).toBeNull();
    expect(protectedFromDeletion(asPath('gen'), true, rules, open)).toBe('ignored');
  });
});
