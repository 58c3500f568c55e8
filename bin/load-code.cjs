'use strict';
const { readFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

/**
 * What a bundled file exports. Where compiled code lies beside it, made by this very version of Node, it is not compiled
 * anew: that takes longer than most commands.
 * @param use names what the command is used for: each usual use has its own code, with what others need left out
 */
function loadCode(filename, use) {
  return run(compile(filename, use), filename);
}

function compile(filename, use) {
  const source = readFileSync(filename, 'latin1');
  return new Script(source, { filename, cachedData: codeBeside(filename, use) });
}

function run(script, filename) {
  const module = { exports: {} };
  const { href } = pathToFileURL(filename);
  // Code of a script cannot import by itself: this is for what is not part of the bundle.
  const importBeside = (path) => import(new URL(path, href).href);
  script.runInThisContext()(module.exports, require, module, href, importBeside);
  return module.exports;
}

/** What usual commands are used for; what is not named here is like most others. */
const uses = { save: 'save', list: 'list', restore: 'restore', undo: 'restore' };

const otherUse = 'other';

/** In the order in which their code is made. */
const allUses = [...new Set(Object.values(uses)), otherUse];

function useOf(argv) {
  return uses[argv.find((word) => Object.hasOwn(uses, word))] ?? otherUse;
}

/** The name of compiled code holds its source's name, and that its content: it never belongs to another source. */
function codeName(filename, use) {
  return `${filename}.${use}.code`;
}

const sumBytes = 4;

/** Compiled code as it is kept: Node would run damaged code, so its checksum goes before it. */
function sealed(code) {
  return Buffer.concat([sumOf(code), code]);
}

function codeBeside(filename, use) {
  let kept;
  try {
    kept = readFileSync(codeName(filename, use));
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

module.exports = { allUses, codeName, compile, loadCode, run, sealed, useOf };
