import type { Random } from '../../support/random.js';

const longest = 16 * 1024;

/** Another input made of a valid one, or of two: one change, now and then up to four, of the kinds that break parsers. Bytes as latin1. */
export function mutated(valid: string, other: string, random: Random): string {
  let text = valid;
  for (let changes = random.oneIn(3) ? 1 + random.below(4) : 1; changes > 0; changes -= 1)
    text = random.pick(kinds)(text, random, other);
  return text.slice(0, longest);
}

type Kind = (text: string, random: Random, other: string) => string;

const kinds: readonly Kind[] = [
  flipBit,
  flipBit,
  (text, random) => replaced(text, random.below(text.length + 1), 1, random.pick(oddBytes)),
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) => replaced(text, random.below(text.length + 1), random.below(12), ''),
  (text, random) => replaced(text, random.below(text.length + 1), 0, random.bytes(1 + random.below(4))),
  (text, random) => replaced(text, random.below(text.length + 1), 0, piece(text, random)),
  (text, random, other) => replaced(text, random.below(text.length + 1), random.below(12), piece(other, random)),
  (text, random) => replaced(text, random.below(text.length + 1), 0, piece(text, random).repeat(1 + random.below(60))),
  (text, random, other) => text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1)),
  (text, random) => inPlaceOf(/\d+/g, text, random, random.pick(oddNumbers)),
  (text, random) => inPlaceOf(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null|\d+)\b/g, text, random, random.pick(oddValues)),
  (text, random) => inPlaceOf(/\[[^[\]]*\]|\{[^{}]*\}/g, text, random, random.pick(oddValues)),
  hugeWord,
];

const oddBytes = ['\0', '\x7f', '\x80', '\xff', '\n', '\r', '"', '\\', '{', '[', ' ', '/', '.'];
const oddNumbers = [
  ...['-1', '0', '00', '1e308', '1e999', '0.5', '4294967296', '9007199254740993', '18446744073709551616'],
  ...['9'.repeat(15), '9'.repeat(16), '9'.repeat(400), '7777777', '-0'],
];
const oddValues = [
  ...['null', '[]', '{}', '""', '0', '-1', '1e400', 'true', '[[]]', '{"base64":"//8="}', '{"base64":"*"}'],
  ...['"\\u0000"', '"../.."', '"/"', '"a//b"', '"\\ud800"', '"__proto__"', '{"__proto__":null}', '"\\n\\r"'],
];

function flipBit(text: string, random: Random): string {
  if (text === '') return text;
  const at = random.below(text.length);
  return replaced(text, at, 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8))));
}

function replaced(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

function piece(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  return text.slice(at, at + 1 + random.below(40));
}

function inPlaceOf(pattern: RegExp, text: string, random: Random, by: string): string {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return flipBit(text, random);
  const { index, 0: match } = random.pick(found);
  return replaced(text, index, match.length, by);
}

/** Four bytes that a binary form may take for a length. */
function hugeWord(text: string, random: Random): string {
  const at = random.below(text.length + 1) & ~3;
  return replaced(
    text,
    at,
    4,
    random.pick(['\xff\xff\xff\xff', '\x7f\xff\xff\xff', '\0\0\0\0', '\0\0\0\x80', '\0\x10\0\0']),
  );
}
