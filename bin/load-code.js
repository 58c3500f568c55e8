import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import zlib from 'node:zlib';

const { crc32 } = zlib;

/**
 * What a bundled file exports. Where its compiled code lies beside it, made by this very version of Node, it is not
 * compiled anew: that takes longer than most commands.
 */
export function loadCode(url) {
  const { script } = compile(url);
  return run(script, url);
}

export function compile(url) {
  const filename = fileURLToPath(url);
  const source = readFileSync(filename, 'latin1');
  return { filename, script: new Script(source, { filename, cachedData: codeBeside(filename) }) };
}

export function run(script, url) {
  const module = { exports: {} };
  // Code of a script cannot import by itself: this is for what is not part of the bundle.
  const importBeside = (path) => import(new URL(path, url).href);
  script.runInThisContext()(module.exports, createRequire(url), module, url.href, importBeside);
  return module.exports;
}

/** The name of compiled code holds its source's name, and that its content: it never belongs to another source. */
export function codeName(filename) {
  return `${filename}.code`;
}

const sumBytes = 4;

/** Compiled code as it is kept: Node would run damaged code, so its checksum goes before it. */
export function sealed(code) {
  return Buffer.concat([sumOf(code), code]);
}

function codeBeside(filename) {
  let kept;
  try {
    kept = readFileSync(codeName(filename));
  } catch {
    return undefined;
  }
  const code = kept.subarray(sumBytes);
  return kept.subarray(0, sumBytes).equals(sumOf(code)) ? code : undefined;
}

/** Empty where this Node cannot count it (before 20.15): then no code is used. */
function sumOf(code) {
  if (crc32 === undefined) return Buffer.alloc(0);
  const sum = Buffer.alloc(sumBytes);
  sum.writeUInt32BE(crc32(code));
  return sum;
}
