/** A command as it could be typed into a shell. */
export function commandText(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/**
 * The text as one word of a shell's command line: quoted where it has spaces or the like, and where a `~` in it would
 * stand for a home directory, as in `~/a`, `a=~` and `a:~`.
 */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,~^-]+$/.test(text) && !/(?:^|[:=])~/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
