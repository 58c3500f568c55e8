/** A command as it could be typed into a shell: what has spaces or the like in it is one word. */
export function commandText(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w./:@%+=,~^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
