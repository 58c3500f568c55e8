import type { Random } from '../../test/support/random.js';
import { wordLike } from './code-tree.js';
import type { Input } from './recipe.js';
import type { InputWriter } from './writer.js';

/** Many small files: 200 bytes each, 50 in a directory, 100 directories in one. */
export function makeSmallFiles(writer: InputWriter, random: Random): Input {
  for (let directory = 0; !writer.isFull(); directory++) {
    const parent = `${Math.floor(directory / 100)}/${directory % 100}`;
    for (let file = 0; file < 50 && !writer.isFull(); file++) writer.write(`${parent}/${file}.txt`, smallText(random));
  }
  return writer.done();
}

function smallText(random: Random): Buffer {
  let text = '';
  while (text.length < 200) text += `${wordLike(3 + random.below(6), random)} `;
  return Buffer.from(`${text.slice(0, 199)}\n`);
}

/** Chains of directories, two files in each; the longest paths stay just below what one system call takes. */
export function makeDeepTree(
  writer: InputWriter,
  { chains, levels }: { readonly chains: number; readonly levels: number },
  random: Random,
): Input {
  for (let chain = 0; chain < chains; chain++) {
    let parent = `chain-${chain}`;
    for (let level = 0; level < levels; level++) {
      writer.write(`${parent}/one.txt`, smallText(random));
      writer.write(`${parent}/two.txt`, smallText(random));
      parent += `/level-${level}`;
    }
  }
  return writer.done();
}
