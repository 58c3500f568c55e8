import type { Buffer } from 'node:buffer';

import { SnapError } from '../errors.js';

/** What `for-each-ref` is to say of each ref, for `RefRecords`. */
export const recordFormat = '%(refname)%00%(objectname)%00%(objecttype)%00%(raw:size)%00%(raw)';

/** A ref and its commit; tree and message are empty where it names something else. */
export type RefRecord = readonly [name: string, oid: string, tree: string, message: string];

const ends = 4;

/** Takes in what git says of refs, piece by piece, while it says more. */
export class RefRecords {
  readonly all: RefRecord[] = [];
  #rest = '';

  push(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1');
    let at = 0;
    for (let next = this.#take(text, at); next > at; next = this.#take(text, at)) at = next;
    this.#rest = text.slice(at);
  }

  /** @throws SnapError INTERNAL when something is left that is no whole record */
  end(): readonly RefRecord[] {
    if (this.#rest === '') return this.all;
    throw new SnapError('INTERNAL', 'The list of refs ended early.', { what: 'git for-each-ref' });
  }

  /** Four fields, each ended by NUL, then as many bytes of content as the fourth says, and a line feed. */
  #take(text: string, at: number): number {
    const fields: string[] = [];
    let start = at;
    while (fields.length < ends) {
      const end = text.indexOf('\0', start);
      if (end < 0) return at;
      fields.push(text.slice(start, end));
      start = end + 1;
    }
    const [name = '', oid = '', type, size] = fields;
    const end = start + Number(size);
    if (end >= text.length) return at;
    const [tree, message] = type === 'commit' ? commitParts(text.slice(start, end)) : nothing;
    this.all.push([name, oid, tree, message]);
    return end + 1;
  }
}

const nothing = ['', ''] as const;

/** The tree and the message of a commit's content; empty for anything else. */
export function commitParts(content: string): readonly [tree: string, message: string] {
  const tree = /^tree ([0-9a-f]{40})\n/.exec(content)?.[1];
  const end = content.indexOf('\n\n');
  return tree === undefined || end < 0 ? nothing : [tree, content.slice(end + 2)];
}
