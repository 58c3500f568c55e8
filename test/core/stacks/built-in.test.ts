import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { format } from 'prettier';
import { expect, test } from 'vitest';

import { builtInPresets } from '../../../src/core/stacks/built-in.js';
import { usualPresets } from '../../../src/core/stacks/in-force.js';
import { isPresetName } from '../../../src/core/stacks/preset-name.js';
import { type StackPreset, toPreset } from '../../../src/core/stacks/preset.js';
import { parseToml } from '../../../src/instance/toml.js';

const folder = join(import.meta.dirname, '../../../stacks');

function presetIn(file: string): StackPreset {
  const preset = toPreset(basename(file, '.toml'), parseToml(readFileSync(join(folder, file), 'utf8')).value);
  if (!('name' in preset)) throw new Error(`${file}: ${JSON.stringify(preset)}`);
  return preset;
}

const files = readdirSync(folder).sort();

// `npm run golden` writes it anew.
test('the module of built-in presets is what the files in stacks/ say', async () => {
  const head = '// Made from the files in stacks/ by "npm run golden": change those.\n';
  const imported = "import type { StackPreset } from './preset.js';\n";
  const list = `export const builtInPresets: readonly StackPreset[] = ${JSON.stringify(files.map(presetIn))};`;
  const text = await format(`${head}${imported}\n${list}`, {
    parser: 'typescript',
    printWidth: 120,
    singleQuote: true,
  });
  await expect(text).toMatchFileSnapshot('../../../src/core/stacks/built-in.ts');
});

test('each has a name that a preset may have, and says what it is', () => {
  expect(builtInPresets.every(({ name, description }) => isPresetName(name) && description !== '')).toBe(true);
});

test('leaves alone what people keep by hand, and never re-includes', () => {
  const patterns = usualPresets.flatMap((preset) => preset.patterns);
  for (const kept of ['vendor/', 'dist/', 'out/', 'build/', 'tmp/', 'log/', '*.tfstate'])
    expect(patterns).not.toContain(kept);
  expect(builtInPresets.flatMap((preset) => preset.patterns).filter((pattern) => pattern.startsWith('!'))).toEqual([]);
});

// Snapshots in which no preset is written mean just these: whoever changes them has to have the old ones read on.
test('what a snapshot that names no presets means is as it always was', () => {
  const meant = usualPresets.map(({ name, detect, patterns }) => [name, detect, patterns]);
  expect(meant).toMatchSnapshot();
});
