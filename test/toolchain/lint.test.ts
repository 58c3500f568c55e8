import { ESLint } from 'eslint';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyFromCheckout, linkPackages, makeScratch, writeFiles } from './scratch.js';

interface Offence {
  readonly rule: string;
  readonly file: string;
  readonly code: string;
  readonly message?: string;
}

const statements = (count: number): string => '  call();\n'.repeat(count);
const branches = Array.from({ length: 11 }, (_, index) => `  if (x === ${String(index)}) return ${String(index)};\n`);

const offences: readonly Offence[] = [
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    file: 'src/core/exhaustive.ts',
    code: `export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}\n`,
  },
  {
    rule: '@typescript-eslint/consistent-type-imports',
    file: 'src/core/type-import.ts',
    code: `import { Stats } from 'node:fs';\nexport type Size = Stats['size'];\n`,
  },
  {
    rule: '@typescript-eslint/explicit-module-boundary-types',
    file: 'src/core/boundary.ts',
    code: `export function f() {\n  return 1;\n}\n`,
  },
  {
    rule: '@typescript-eslint/consistent-type-definitions',
    file: 'src/core/definition.ts',
    code: `export type Shape = { readonly a: number };\n`,
  },
  {
    rule: '@typescript-eslint/no-floating-promises',
    file: 'src/core/floating.ts',
    code: `export function f(start: () => Promise<void>): void {\n  start();\n}\n`,
  },
  {
    rule: '@typescript-eslint/no-misused-promises',
    file: 'src/core/misused.ts',
    code: `export function f(ask: () => Promise<boolean>): number {\n  if (ask()) return 1;\n  return 2;\n}\n`,
  },
  {
    rule: '@typescript-eslint/no-unnecessary-condition',
    file: 'src/core/condition.ts',
    code: `export function f(x: { readonly a: number }): number {\n  return x?.a;\n}\n`,
  },
  {
    rule: '@typescript-eslint/restrict-template-expressions',
    file: 'src/core/template.ts',
    code: 'export function f(x: object | null): string {\n  return `${x}`;\n}\n',
  },
  {
    rule: 'no-console',
    file: 'src/core/console.ts',
    code: `export function f(): void {\n  console.log('x');\n}\n`,
  },
  {
    rule: 'max-lines',
    file: 'src/core/long-file.ts',
    code: Array.from({ length: 301 }, (_, index) => `export const a${String(index)} = 1;\n`).join(''),
  },
  {
    rule: 'max-lines-per-function',
    file: 'src/core/long-function.ts',
    code: `export function f(call: () => void): void {\n${statements(49)}}\n`,
  },
  {
    rule: 'complexity',
    file: 'src/core/complexity.ts',
    code: `export function f(x: number): number {\n${branches.join('')}  return 99;\n}\n`,
  },
  {
    rule: 'no-restricted-imports',
    message: 'Use node:fs.',
    file: 'src/core/bare-builtin.ts',
    code: `import { readFileSync } from 'fs';\nexport const read = readFileSync;\n`,
  },
  {
    rule: 'no-restricted-imports',
    message: 'Use node:path.',
    file: 'src/cli/bare-builtin.ts',
    code: `import { join } from 'path';\nexport const joined: string = join('a', 'b');\n`,
  },
  {
    rule: 'no-restricted-imports',
    message: 'see the process',
    file: 'src/core/process-import.ts',
    code: `import { cwd } from 'node:process';\nexport const here: string = cwd();\n`,
  },
  {
    rule: 'no-restricted-globals',
    message: 'see the process',
    file: 'src/fs/process-global.ts',
    code: `export const here: string = process.cwd();\n`,
  },
  {
    rule: 'no-restricted-syntax',
    message: 'Take the time from the caller.',
    file: 'src/git/new-date.ts',
    code: `export const now: Date = new Date();\n`,
  },
  {
    rule: 'no-restricted-syntax',
    message: 'Take the time from the caller.',
    file: 'src/operations/date-now.ts',
    code: `export const now: number = Date.now();\n`,
  },
  {
    rule: 'no-restricted-syntax',
    message: 'Throw a SnapError',
    file: 'src/operations/bare-error.ts',
    code: `export function f(): never {\n  throw new Error('x');\n}\n`,
  },
  {
    rule: 'no-restricted-syntax',
    message: 'Named exports only.',
    file: 'src/instance/default-export.ts',
    code: `export default 1;\n`,
  },
  {
    rule: '(none)',
    message: 'Unused eslint-disable directive',
    file: 'src/core/unused-directive.ts',
    code: `// eslint-disable-next-line no-console\nexport const a = 1;\n`,
  },
  { rule: 'no-console', file: 'bin/console.mjs', code: `console.log('x');\n` },
  { rule: 'no-console', file: 'bin/console.cjs', code: `console.log('x');\n` },
  { rule: 'no-console', file: 'test/core/console.ts', code: `console.log('x');\n` },
];

const allowed: readonly { readonly what: string; readonly file: string; readonly code: string }[] = [
  {
    what: 'the process and the time in cli/',
    file: 'src/cli/process.ts',
    code: `export const here: string = process.cwd();\nexport const now: Date = new Date();\n`,
  },
  {
    what: 'the process and the time in snap.ts',
    file: 'src/snap.ts',
    code: `export const here: string = process.cwd();\nexport const now: number = Date.now();\n`,
  },
  {
    what: 'a date of a given time in core/',
    file: 'src/core/given-time.ts',
    code: `export function f(time: number): Date {\n  return new Date(time);\n}\n`,
  },
  {
    what: 'a long function in a test',
    file: 'test/core/long-function.ts',
    code: `export function f(call: () => void): void {\n${statements(60)}}\n`,
  },
];

describe('the linter', () => {
  const project = makeScratch();
  let found: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    copyFromCheckout(project, ['package.json', 'tsconfig.json', 'eslint.config.js']);
    linkPackages(project);
    writeFiles(project, Object.fromEntries([...offences, ...allowed].map(({ file, code }) => [file, code])));
    const results = await new ESLint({ cwd: project }).lintFiles(['src', 'test', 'bin']);
    found = new Map(
      results.map(({ filePath, messages }) => [
        filePath.slice(project.length + 1),
        messages.map(({ ruleId, message }) => `${ruleId ?? '(none)'}: ${message}`),
      ]),
    );
  });

  test.each(offences)('reports $rule in $file', ({ rule, file, message = '' }) => {
    const hits = found.get(file)?.filter((line) => line.startsWith(`${rule}: `) && line.includes(message));
    expect(hits).not.toEqual([]);
    expect(hits).toBeDefined();
  });

  test.each(allowed)('allows $what', ({ file }) => {
    expect(found.get(file)).toEqual([]);
  });
});
