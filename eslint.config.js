import { builtinModules } from 'node:module';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const bareBuiltins = builtinModules
  .filter((name) => !name.includes(':') && !name.startsWith('_'))
  .map((name) => ({ name, message: `Use node:${name}.` }));

const sizeLimits = {
  'max-lines': ['error', { max: 300, skipComments: true, skipBlankLines: true }],
  'max-lines-per-function': ['error', { max: 50, skipComments: true, skipBlankLines: true }],
  complexity: ['error', 10],
};

export default defineConfig(
  { ignores: ['dist/', '.dist-*/', 'coverage/', '.reports/', 'fixtures/', '.dependency-cruiser.mjs'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/promise-function-async': 'off',
      '@typescript-eslint/consistent-type-definitions': 'error',
      // A number reads the same in a template as anywhere; everything else must be made text on purpose.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // It asks for `!`, which the strict set forbids.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      'no-console': 'error',
      ...sizeLimits,
      'no-restricted-imports': ['error', { paths: bareBuiltins }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/cli/**', 'src/snap.ts', 'src/snap/**'],
    rules: {
      'no-restricted-globals': ['error', { name: 'process', message: 'Only bin/, cli/ and snap.ts see the process.' }],
      'no-restricted-imports': [
        'error',
        {
          paths: [...bareBuiltins, { name: 'node:process', message: 'Only bin/, cli/ and snap.ts see the process.' }],
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'Take the time from the caller.',
        },
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Take the time from the caller.',
        },
        {
          selector: 'ThrowStatement > NewExpression[callee.name=/^(Error|TypeError)$/]',
          message: 'Throw a SnapError with a code.',
        },
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // What runs before anything is built: plain JavaScript.
    files: ['**/*.{js,cjs,mjs}', 'bin/jackin-snap'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...sizeLimits,
      'no-console': 'error',
      'no-unused-vars': 'error',
      'prefer-const': 'error',
      eqeqeq: 'error',
      'no-restricted-imports': ['error', { paths: bareBuiltins }],
    },
  },
);
