import { join } from 'node:path';
import type { Random } from '../../test/support/random.js';
import type { Input } from './recipe.js';
import type { Package } from './package-files.js';
import type { InputWriter } from './writer.js';

/**
 * A folder like a large node_modules: every package in many versions, each of which changes three files in five of the
 * one it was made from and leaves the others as they were.
 */
export function makeCodeTree(writer: InputWriter, packages: readonly Package[], random: Random): Input {
  for (let version = 0; ; version++) {
    for (const { name: packageName, files } of packages) {
      for (const { path, content } of files) {
        if (writer.isFull()) return writer.done();
        const changes = version > 0 && random.below(5) < 3;
        const target = join(version === 0 ? packageName : `${packageName}-${version}`, path);
        writer.write(target, changes ? varied(content, random) : content);
      }
    }
  }
}

/** The same file with a few words renamed everywhere: it is another one, and compresses like the first. */
function varied(content: Buffer, random: Random): Buffer {
  if (content.includes(0)) return withOtherBytes(content, random);
  let text = content.toString('latin1');
  const words = text.match(/[A-Za-z]{5,}/g) ?? [];
  for (let count = 0; count < 3 && words.length > 0; count++) {
    const word = random.pick(words);
    text = text.replaceAll(word, wordLike(word.length, random));
  }
  // A version number, so that short files differ too.
  return Buffer.from(`${text}\n// ${random.below(1e9).toString(36)}\n`, 'latin1');
}

function withOtherBytes(content: Buffer, random: Random): Buffer {
  const copy = Buffer.from(content);
  for (let count = 0; count < 8; count++) copy[random.below(copy.length)] = random.below(256);
  return copy;
}

export function wordLike(length: number, random: Random): string {
  let word = '';
  while (word.length < length) word += random.pick(syllables);
  return word.slice(0, length);
}

const syllables = [
  'con',
  'tra',
  'ser',
  'me',
  'di',
  'le',
  'ra',
  'to',
  'num',
  'pre',
  'si',
  'ven',
  'lo',
  'da',
  'ter',
  'is',
];
