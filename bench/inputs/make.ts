// Makes one input, in a process of its own: its arguments are the checkout and the recipe, its output is what was made.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../../test/support/random.js';
import { makeCodeTree } from './code-tree.js';
import { writeBigFile } from './large-files.js';
import { addSnapshots } from './many-snapshots.js';
import { readPackages } from './package-files.js';
import { makeDeepTree, makeSmallFiles } from './plain-trees.js';
import type { Input, Recipe } from './recipe.js';
import { InputWriter } from './writer.js';

const [root, recipe] = process.argv.slice(2);
process.stdout.write(JSON.stringify(make(root!, JSON.parse(recipe!) as Recipe)));

function make(root: string, recipe: Recipe): Input {
  const { name, folder, kind } = recipe;
  const random = randomFrom(recipe.seed);
  switch (kind) {
    case 'code':
      return makeCodeTree(new InputWriter(name, folder, recipe.files), readPackages(root, random), random);
    case 'small files':
      return makeSmallFiles(new InputWriter(name, folder, recipe.files), random);
    case 'deep':
      return makeDeepTree(new InputWriter(name, folder, recipe.chains * recipe.levels * 2), recipe, random);
    case 'big file':
      mkdirSync(folder);
      writeBigFile(join(folder, 'big.bin'), recipe.bytes, readPackages(root, random), random);
      return { name, folder, files: 1, bytes: recipe.bytes, distinctContents: 1, changeable: [] };
    case 'snapshots':
      addSnapshots(folder, recipe.total);
      return { name, folder, files: 0, bytes: 0, distinctContents: 0, changeable: [] };
  }
}
