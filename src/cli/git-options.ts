/** An option of git's that is passed on as it is. */
export interface GitOption {
  readonly shape: RegExp;
  /** The spelling that takes the next word as its value. */
  readonly valueFollows?: RegExp;
  readonly help: string;
}

const shared: readonly GitOption[] = [
  { shape: /^--stat(=[0-9,]+)?$/, help: '--stat[=WIDTH]' },
  { shape: /^--name-status$/, help: '--name-status' },
  { shape: /^--name-only$/, help: '--name-only' },
  { shape: /^--numstat$/, help: '--numstat' },
  { shape: /^--shortstat$/, help: '--shortstat' },
  { shape: /^--summary$/, help: '--summary' },
  { shape: /^(-U|--unified=)[0-9]+$/, help: '-U<n>' },
  { shape: /^--word-diff(=(plain|color|porcelain|none))?$/, help: '--word-diff[=MODE]' },
  { shape: /^--color-words$/, help: '--color-words' },
  { shape: /^(-M[0-9]*%?|--find-renames(=[0-9]+%?)?)$/, help: '-M[n]' },
  { shape: /^--no-renames$/, help: '--no-renames' },
  { shape: /^(-b|-w|--ignore-space-change|--ignore-all-space)$/, help: '-b, -w' },
];

export const diffOptions: readonly GitOption[] = [
  ...shared,
  { shape: /^--exit-code$/, help: '--exit-code' },
  { shape: /^-z$/, help: '-z' },
];

export const logOptions: readonly GitOption[] = [
  { shape: /^(-p|-u|--patch)$/, help: '-p' },
  { shape: /^--oneline$/, help: '--oneline' },
  {
    shape: /^(--format=.*|--pretty(=.*)?|--format)$/s,
    valueFollows: /^--format$/,
    help: '--format=FORMAT, --pretty[=FORMAT]',
  },
  { shape: /^(-n[0-9]*|-[0-9]+|--max-count(=[0-9]+)?)$/, valueFollows: /^(-n|--max-count)$/, help: '-n <n>' },
  { shape: /^-z$/, help: '-z' },
  ...shared,
];

/** git's own spelling: `--format VALUE` is known to it with "=" only. */
export function asGitSpellsThem(options: readonly string[]): readonly string[] {
  return options.flatMap((option, index) => {
    if (option === '--format') return [`--format=${options[index + 1] ?? ''}`];
    return options[index - 1] === '--format' ? [] : [option];
  });
}
