import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

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
  const source = `(function(exports,require,module,__url,__import){${readFileSync(filename, 'latin1')}\n})`;
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

const sumBytes = 20;

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

function sumOf(code) {
  return createHash('sha1').update(code).digest();
}
