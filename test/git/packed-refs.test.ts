import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  forgetLastPacked,
  lastPacked,
  noteLastPacked,
  packedRefsDamage,
  readablePackedRefs,
  rewritePackedRefs,
} from '../../src/git/packed-refs.js';
import { tempDir } from '../support/temp.js';

const heading = '# pack-refs with: peeled fully-peeled sorted \n';
const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];
const sound = `${heading}${one} refs/jackin-pin/t/1\n${one} refs/jackin/t/1\n${two} refs/jackin/t/2\n${three} refs/replace/${two}\n`;

function storeWith(text: string | null): string {
  const store = join(tempDir(), 'store.git');
  mkdirSync(store);
  if (text !== null) writeFileSync(join(store, 'packed-refs'), text, 'latin1');
  return store;
}

describe("git's file of packed refs", () => {
  test.each([
    { what: 'that is not there', text: null },
    { what: 'with nothing in it', text: heading },
    { what: 'as we have it', text: sound },
    {
      what: 'with a branch that somebody made',
      text: sound.replace(`${one} refs/jackin-pin`, `${two} refs/heads/x\n${one} refs/jackin-pin`),
    },
    { what: 'with a tag and what it leads to', text: `${heading}${one} refs/tags/v1\n^${two}\n` },
    { what: 'of a git that says more of it', text: sound.replace('sorted', 'sorted other-trait') },
  ])('$what is sound, and stays as it is', ({ text }) => {
    const store = storeWith(text);
    expect(packedRefsDamage(store).problems).toEqual([]);
    expect(rewritePackedRefs(store).problems).toEqual([]);
    if (text !== null) expect(readFileSync(join(store, 'packed-refs'), 'latin1')).toBe(text);
  });

  test.each([
    { what: 'is empty', text: '', problem: /no heading/, isCut: true },
    { what: 'is a page of zeros', text: '\0'.repeat(4096), problem: /no heading/, isCut: true },
    { what: 'ends early', text: sound.slice(0, -30), problem: /middle of a line/, isCut: true },
    { what: 'lost its heading', text: sound.slice(heading.length), problem: /no heading/, isCut: true },
    { what: 'has a damaged id', text: sound.replace(`${two} refs`, `${two.slice(1)}v refs`), problem: /line 4/ },
    { what: 'has a damaged name', text: sound.replace('refs/jackin/t/2', 'refs/jackin/t/r'), problem: /line 4/ },
    { what: 'has a name elsewhere', text: sound.replace('refs/jackin/t/2', 'refs/jaakin/t/2'), problem: /line 4/ },
    { what: 'is out of order', text: sound.replace('refs/jackin-pin/t/1', 'refs/jackin/z/1'), problem: /line 3/ },
    { what: 'has a ref twice', text: sound.replace('refs/jackin/t/2', 'refs/jackin/t/1'), problem: /line 4/ },
    { what: 'has a line of nothing', text: `${sound}\n`, problem: /line 6/, isCut: true },
  ])('that $what is damaged, and is written anew with all that can be read', ({ text, problem, isCut }) => {
    const store = storeWith(text);
    expect(packedRefsDamage(store)).toMatchObject({
      problems: expect.arrayContaining([expect.stringMatching(problem)]) as string[],
      isCut: isCut ?? false,
    });
    const readable = readablePackedRefs(store);
    const { ids } = rewritePackedRefs(store);
    expect(packedRefsDamage(store).isCut).toBe(isCut === true || ids.length > 0);
    noteLastPacked(store);
    expect(packedRefsDamage(store).problems).toEqual([]);
    expect(readablePackedRefs(store)).toEqual(new Map([...readable].sort(([a], [b]) => (a < b ? -1 : 1))));
  });

  test('what has no value any more becomes a ref that is known to be broken, unless it has another', () => {
    const store = storeWith(sound.replace(`${two} refs`, `${two.slice(1)}v refs`));
    expect(rewritePackedRefs(store).names).toEqual(['refs/jackin/t/2']);
    expect(readFileSync(join(store, 'refs/jackin/t/2'), 'utf8')).toBe('damaged\n');
    const other = storeWith(sound.replace(`${two} refs`, `${two.slice(1)}v refs`));
    mkdirSync(join(other, 'refs/jackin/t'), { recursive: true });
    writeFileSync(join(other, 'refs/jackin/t/2'), `${three}\n`);
    rewritePackedRefs(other);
    expect(readFileSync(join(other, 'refs/jackin/t/2'), 'utf8')).toBe(`${three}\n`);
  });

  test.each(['refs/jackin/t/2', `refs/replace/${two}`, 'refs/tags/caf\xe9'])(
    'whose last ref is known, %s, is cut where it has not that',
    (name) => {
      const whole = `${heading}${one} refs/jackin/t/1\n${three} ${name}\n`;
      const store = storeWith(whole);
      noteLastPacked(store);
      expect(packedRefsDamage(store).problems).toEqual([]);
      const cut = whole.replace(/.*\n$/, '');
      for (const text of [cut, heading, null]) {
        if (text === null) rmSync(join(store, 'packed-refs'));
        else writeFileSync(join(store, 'packed-refs'), text, 'latin1');
        const problems = [expect.stringMatching(/it ends before refs/)] as string[];
        expect(packedRefsDamage(store)).toMatchObject({ problems, isCut: true });
      }
      writeFileSync(join(store, 'packed-refs'), cut, 'latin1');
      // Not before what was lost is back.
      rewritePackedRefs(store);
      expect(packedRefsDamage(store).isCut).toBe(true);
      noteLastPacked(store);
      expect(packedRefsDamage(store).problems).toEqual([]);
    },
  );

  test('has an end that is a tag, or none', () => {
    const tagged = storeWith(`${heading}${one} refs/tags/v1\n^${two}\n`);
    noteLastPacked(tagged);
    expect(readFileSync(join(tagged, lastPacked), 'utf8')).toMatch(/^refs\/tags\/v1\n[0-9a-f]{8}\n$/);
    for (const text of [heading, null]) {
      const store = storeWith(text);
      writeFileSync(join(store, lastPacked), 'refs/jackin/t/1\n');
      noteLastPacked(store);
      expect(existsSync(join(store, lastPacked))).toBe(false);
    }
  });

  test('has an end that is forgotten before it goes, and not before another does', () => {
    const store = storeWith(sound);
    noteLastPacked(store);
    forgetLastPacked(store, ['refs/jackin/t/1']);
    forgetLastPacked(store, []);
    expect(existsSync(join(store, lastPacked))).toBe(true);
    forgetLastPacked(store, ['refs/jackin/t/2', `refs/replace/${two}`]);
    expect(existsSync(join(store, lastPacked))).toBe(false);
  });

  test('is not believed to be cut by a note that is damaged', () => {
    const store = storeWith(sound);
    noteLastPacked(store);
    const note = join(store, lastPacked);
    const text = readFileSync(note, 'latin1');
    const damaged = [text.replace(two, three), text.slice(0, -1), '', ' \n', '\0'.repeat(60), text.repeat(500)];
    for (const other of damaged) {
      writeFileSync(note, other, 'latin1');
      expect(packedRefsDamage(store).problems).toEqual([]);
    }
    rmSync(note);
    mkdirSync(note);
    expect(packedRefsDamage(store).problems).toEqual([]);
  });
});
