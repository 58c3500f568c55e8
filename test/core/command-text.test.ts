import { describe, expect, test } from 'vitest';

import { commandText, shellWord } from '../../src/core/command-text.js';

describe('a command as it can be typed', () => {
  test.each([
    { word: 'npm', typed: 'npm' },
    { word: 'a/b.c:d@e%f+g=h,i~j^k-l_m', typed: 'a/b.c:d@e%f+g=h,i~j^k-l_m' },
    { word: '', typed: "''" },
    { word: 'two words', typed: "'two words'" },
    { word: "it's", typed: "'it'\\''s'" },
    { word: '$HOME', typed: "'$HOME'" },
    { word: '~', typed: "'~'" },
    { word: '~user/a', typed: "'~user/a'" },
    { word: 'src=~/a', typed: "'src=~/a'" },
    { word: 'a:~:b', typed: "'a:~:b'" },
    { word: 'a/~', typed: 'a/~' },
    { word: 'a\nb', typed: "'a\nb'" },
  ])('has $word as $typed', ({ word, typed }) => {
    expect(shellWord(word)).toBe(typed);
  });

  test('has its words apart', () => {
    expect(commandText(['sh', '-c', 'echo a; echo b'])).toBe("sh -c 'echo a; echo b'");
  });
});
